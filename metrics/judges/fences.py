"""Fences around untrusted texts: the fence gives way, the text never changes.

A fence is what the template puts around a text: a run of backticks, a pair of tags, quotation marks. Where
a text holds its own fence's mark, the fence is made one that the text does not hold: more backticks, another
name of the tag, more quotation marks. A text without such marks gets exactly what the template says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from challenge_sets import InputError
from metrics.judges.templates import Piece, Text

_QUOTES = {
    '"': '"',
    "'": "'",
    "“": "”",
    "‘": "’",
    "«": "»",
    "‹": "›",
    "„": "“",
    "「": "」",
    "『": "』",
}
_BACKTICKS = re.compile("`{3,}")
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w.:-]*)(?:\s[^<>]*)?(?P<empty>/?)>")
_LINE_BREAK = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")

FENCE_HINT = (
    "put it between ``` and ```, between <tag> and </tag>, or directly between quotation marks; "
    "``` in other places of the prompt count as fences too"
)


def assemble(pieces: Sequence[Piece], *, bare: bool = False) -> tuple[str, bool]:
    """The message that these pieces make, and whether a fence had to give way.

    ``bare`` allows texts in no fence (prompts that we must not change): they get one where they hold a line
    break. Otherwise ``InputError`` for such a text.
    """
    layout = _Layout.of(pieces)
    if not layout.groups:
        return layout.mask, False
    edits = [*_backtick_edits(layout), *_tag_edits(layout), *_quote_edits(layout)]
    open_groups = _bare_groups(layout)
    if open_groups and not bare:
        raise InputError(f"'{open_groups[0].names[0]}' stands in no fence", hint=FENCE_HINT)
    for group in open_groups:
        if _LINE_BREAK.search(group.text):
            marks = "`" * max(3, 1 + max(_longest_run("`", each.text) for each in layout.groups))
            edits += [(group.start, group.start, f"{marks}\n"), (group.end, group.end, f"\n{marks}")]
    return layout.filled(edits), bool(edits)


def bare_texts(pieces: Sequence[Piece]) -> list[str]:
    """Names of the texts that stand in no fence, in order."""
    return [name for group in _bare_groups(_Layout.of(pieces)) for name in group.names]


_Edit = tuple[int, int, str]
"""Replace the template's words from here to there."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Texts that stand side by side in a template, as one; offsets are those of the mask."""

    start: int
    end: int
    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The template's words with one mark for each text."""

    mask: str
    mark: str
    texts: tuple[Text, ...]
    groups: tuple[_Group, ...]

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> _Layout:
        words = "".join(piece for piece in pieces if isinstance(piece, str))
        # Any character that the words do not hold will do: texts are put in last and never scanned for it.
        mark = next(chr(code) for code in range(0xE000, 0x110000) if chr(code) not in words)
        mask = "".join(piece if isinstance(piece, str) else mark for piece in pieces)
        texts = tuple(piece for piece in pieces if isinstance(piece, Text))
        groups, used = [], 0
        for match in re.finditer(f"{mark}+", mask):
            held = texts[used : used + len(match[0])]
            used += len(held)
            joined = "".join(text.text for text in held)
            groups.append(_Group(match.start(), match.end(), joined, tuple(text.name for text in held)))
        return cls(mask, mark, texts, tuple(groups))

    def content(self, start: int, end: int) -> str:
        """The mask from here to there with the texts in place."""
        first = self.mask.count(self.mark, 0, start)
        return "".join(_fill(self.mask[start:end], self.mark, iter(self.texts[first:])))

    def filled(self, edits: Iterable[_Edit]) -> str:
        """The whole, edited. Edits do not overlap."""
        texts = iter(self.texts)
        done, out = 0, []
        for start, end, words in sorted(edits):
            out += _fill(self.mask[done:start], self.mark, texts)
            out.append(words)
            done = end
        out += _fill(self.mask[done:], self.mark, texts)
        return "".join(out)


def _fill(words: str, mark: str, texts: Iterator[Text]) -> list[str]:
    first, *others = words.split(mark)
    out = [first]
    for each in others:
        out += [next(texts).text, each]
    return out


def _seen(text: str) -> str:
    # What a reader may take for a mark: full-width and other compatible forms of it, and marks with
    # invisible characters between them.
    if text.isascii():
        return text
    return "".join(
        character
        for character in unicodedata.normalize("NFKC", text)
        if unicodedata.category(character) != "Cf"
    )


def _longest_run(mark: str, text: str) -> int:
    runs = re.findall(f"{re.escape(mark)}+", _seen(text))
    return max(map(len, runs), default=0)


def _backtick_fences(mask: str) -> list[tuple[re.Match[str], re.Match[str]]]:
    # A run closes a fence where it is at least as long as the one that opened it.
    fences: list[tuple[re.Match[str], re.Match[str]]] = []
    opened: re.Match[str] | None = None
    for run in _BACKTICKS.finditer(mask):
        if opened is None:
            opened = run
        elif len(run[0]) >= len(opened[0]):
            fences.append((opened, run))
            opened = None
    return fences


def _backtick_edits(layout: _Layout) -> list[_Edit]:
    fences = _backtick_fences(layout.mask)
    if not fences:
        return []
    contents = [_seen(layout.content(opening.end(), closing.start())) for opening, closing in fences]
    # Texts outside these fences count too: a run in one of them would shift what opens and what closes.
    longest = max(_longest_run("`", text) for text in (*contents, *(group.text for group in layout.groups)))
    touched = any(content.startswith("`") or content.endswith("`") for content in contents)
    if longest < min(len(opening[0]) for opening, _ in fences) and not touched:
        return []
    edits: list[_Edit] = []
    for (opening, closing), content in zip(fences, contents, strict=True):
        marks = "`" * max(len(opening[0]), len(closing[0]), longest + 1)
        # A backtick at the edge of a text would run into the fence.
        edits.append((opening.start(), opening.end(), marks + " " * content.startswith("`")))
        edits.append((closing.start(), closing.end(), " " * content.endswith("`") + marks))
    return edits


def _tag_pairs(mask: str) -> list[tuple[re.Match[str], re.Match[str]]]:
    pairs: list[tuple[re.Match[str], re.Match[str]]] = []
    stack: list[re.Match[str]] = []
    for tag in _TAG.finditer(mask):
        if tag["empty"]:
            continue
        if not tag["end"]:
            stack.append(tag)
            continue
        for depth in range(len(stack) - 1, -1, -1):
            if stack[depth]["name"].lower() == tag["name"].lower():
                pairs.append((stack[depth], tag))
                del stack[depth:]
                break
    return pairs


def _tag_edits(layout: _Layout) -> list[_Edit]:
    names = {
        opening["name"].lower()
        for opening, closing in _tag_pairs(layout.mask)
        if any(opening.start() < group.start < closing.end() for group in layout.groups)
    }
    seen = [_seen(group.text) for group in layout.groups]
    folded = [layout.mask.casefold(), *(text.casefold() for text in seen)]
    edits: list[_Edit] = []
    for name in sorted(names):
        forged = re.compile(rf"<[\s\\/]*{re.escape(name)}", re.IGNORECASE)
        if not any(forged.search(text) for text in seen):
            continue
        number = 2
        while any(f"{name}-{number}" in text for text in folded):
            number += 1
        edits += [
            (tag.end("name"), tag.end("name"), f"-{number}")
            for tag in _TAG.finditer(layout.mask)
            if tag["name"].lower() == name
        ]
    return edits


def _quoted(layout: _Layout) -> list[tuple[_Group, int]]:
    """The groups directly between quotation marks, each with how many of them stand on either side."""
    found, used = [], 0
    for group in layout.groups:
        opening = layout.mask[group.start - 1 : group.start]
        closing = _QUOTES.get(opening)
        if closing is None:
            continue
        before = layout.mask[used : group.start]
        after = layout.mask[group.end :]
        marks = min(len(before) - len(before.rstrip(opening)), len(after) - len(after.lstrip(closing)))
        if marks:
            found.append((group, marks))
            used = group.end + marks
    return found


def _quote_edits(layout: _Layout) -> list[_Edit]:
    edits: list[_Edit] = []
    for group, marks in _quoted(layout):
        opening = layout.mask[group.start - 1]
        closing = _QUOTES[opening]
        text = _seen(group.text)
        starts, ends = text.startswith((opening, closing)), text.endswith((opening, closing))
        longest = max(_longest_run(opening, text), _longest_run(closing, text))
        if _longest_run(closing, text) < marks and not starts and not ends:
            continue
        more = max(3, marks, longest + 1)
        edits.append((group.start - marks, group.start, opening * more + " " * starts))
        edits.append((group.end, group.end + marks, " " * ends + closing * more))
    return edits


def _bare_groups(layout: _Layout) -> list[_Group]:
    fenced = [(opening.end(), closing.start()) for opening, closing in _backtick_fences(layout.mask)]
    fenced += [(opening.end(), closing.start()) for opening, closing in _tag_pairs(layout.mask)]
    quoted = {group.start for group, _ in _quoted(layout)}
    return [
        group
        for group in layout.groups
        if group.start not in quoted and not any(start <= group.start < end for start, end in fenced)
    ]
