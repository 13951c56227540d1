"""Fences around untrusted texts: the fence gives way, the text never changes.

A fence is what the template puts around a text: a run of backticks, a pair of tags, quotation marks. Where
a text holds its own fence's mark, the fence is made one that the text does not hold: more backticks, another
name of the tag, more quotation marks. A text without such marks gets exactly what the template says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from challenge_sets import InputError
from metrics.judges.layouts import Edit, Group, Layout, seen_text
from metrics.judges.templates import Piece

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
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w.:-]*)(?:\s[^<>]*?)?(?P<empty>/?)>")
# So long that no message holds every number of so many digits.
_NUMBER = re.compile("-([0-9]{1,9})")
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
    layout = Layout.of(pieces)
    if not layout.groups:
        return layout.mask, False
    fences = _Fences.of(layout)
    open_groups = fences.bare(layout)
    if open_groups and not bare:
        raise InputError(f"'{open_groups[0].names[0]}' stands in no fence", hint=FENCE_HINT)
    edits = [
        *_backtick_edits(layout, fences.blocks),
        *_tag_edits(layout, fences),
        *_quote_edits(layout, fences.quoted),
    ]
    with_lines = [group for group in open_groups if _LINE_BREAK.search(group.text)]
    if with_lines:
        marks = "`" * max(3, 1 + max(_longest_run("`", group.seen) for group in layout.groups))
        for group in with_lines:
            edits += [(group.start, group.start, f"{marks}\n"), (group.end, group.end, f"\n{marks}")]
    return layout.filled(edits), bool(edits)


def bare_texts(pieces: Sequence[Piece]) -> list[str]:
    """Names of the texts that stand in no fence, in order."""
    layout = Layout.of(pieces)
    return [name for group in _Fences.of(layout).bare(layout) for name in group.names]


def _longest_run(mark: str, seen: str) -> int:
    return max(map(len, re.findall(f"{re.escape(mark)}+", seen)), default=0)


_Marks = tuple[re.Match[str], re.Match[str]]
"""What opens a fence, and what closes it."""


@dataclass(frozen=True, slots=True)
class _Fences:
    """The fences that a template's words make; ``quoted`` are the groups directly between quotation marks,
    each with how many of them stand on either side."""

    blocks: list[_Marks]
    tags: list[re.Match[str]]
    elements: list[_Marks]
    quoted: list[tuple[Group, int]]

    @classmethod
    def of(cls, layout: Layout) -> _Fences:
        tags = list(_TAG.finditer(layout.mask))
        return cls(_blocks(layout.mask), tags, _elements(tags), _quoted(layout))

    def bare(self, layout: Layout) -> list[Group]:
        """The groups in no fence."""
        fenced = sorted((opening.end(), closing.start()) for opening, closing in self.blocks + self.elements)
        quoted = {group.start for group, _ in self.quoted}
        found, place, reach = [], 0, 0
        for group in layout.groups:
            while place < len(fenced) and fenced[place][0] <= group.start:
                reach = max(reach, fenced[place][1])
                place += 1
            if group.start >= reach and group.start not in quoted:
                found.append(group)
        return found


def _blocks(mask: str) -> list[_Marks]:
    # A run closes a fence where it is at least as long as the one that opened it.
    blocks: list[_Marks] = []
    opened: re.Match[str] | None = None
    for run in _BACKTICKS.finditer(mask):
        if opened is None:
            opened = run
        elif len(run[0]) >= len(opened[0]):
            blocks.append((opened, run))
            opened = None
    return blocks


def _name(tag: re.Match[str]) -> str:
    return seen_text(tag["name"]).casefold()


def _elements(tags: Iterable[re.Match[str]]) -> list[_Marks]:
    elements: list[_Marks] = []
    opened: list[tuple[str, re.Match[str]]] = []
    depths: dict[str, list[int]] = {}
    for tag in tags:
        if tag["empty"]:
            continue
        name = _name(tag)
        if not tag["end"]:
            depths.setdefault(name, []).append(len(opened))
            opened.append((name, tag))
        elif depths.get(name):
            depth = depths[name][-1]
            elements.append((opened[depth][1], tag))
            # What was opened since then and never closed is closed with it.
            for each, _ in opened[depth:]:
                depths[each].pop()
            del opened[depth:]
    return elements


def _quoted(layout: Layout) -> list[tuple[Group, int]]:
    found, used = [], 0
    for group in layout.groups:
        opening = layout.mask[group.start - 1 : group.start]
        closing = _QUOTES.get(opening)
        if closing is None:
            continue
        before = min(_run_at(layout.mask, group.start - 1, -1), group.start - used)
        after = _run_at(layout.mask, group.end, 1) if layout.mask.startswith(closing, group.end) else 0
        marks = min(before, after)
        if marks:
            found.append((group, marks))
            used = group.end + marks
    return found


def _run_at(mask: str, place: int, step: int) -> int:
    """How often the character at a place stands there in a row, forwards or backwards."""
    end = place
    while 0 <= end < len(mask) and mask[end] == mask[place]:
        end += step
    return abs(end - place)


def _backtick_edits(layout: Layout, blocks: Sequence[_Marks]) -> list[Edit]:
    if not blocks:
        return []
    contents = [layout.seen(opening.end(), closing.start()) for opening, closing in blocks]
    # Texts outside these fences count too: a run in one of them would shift what opens and what closes.
    longest = max(_longest_run("`", text) for text in (*contents, *(group.seen for group in layout.groups)))
    touched = any(content.startswith("`") or content.endswith("`") for content in contents)
    if longest < min(len(opening[0]) for opening, _ in blocks) and not touched:
        return []
    edits: list[Edit] = []
    for (opening, closing), content in zip(blocks, contents, strict=True):
        marks = "`" * max(len(opening[0]), len(closing[0]), longest + 1)
        # A backtick at the edge of a text would run into the fence.
        edits.append((opening.start(), opening.end(), marks + " " * content.startswith("`")))
        edits.append((closing.start(), closing.end(), " " * content.endswith("`") + marks))
    return edits


def _tag_edits(layout: Layout, fences: _Fences) -> list[Edit]:
    names = set()
    for opening, closing in fences.elements:
        following = bisect_right(layout.starts, opening.start())
        if following < len(layout.starts) and layout.starts[following] < closing.end():
            names.add(_name(opening))
    forged = _forged(names, [group.seen for group in layout.groups])
    if not forged:
        return []
    number = _free_number([layout.mask, *(group.seen for group in layout.groups)])
    return [(tag.end("name"), tag.end("name"), f"-{number}") for tag in fences.tags if _name(tag) in forged]


def _forged(names: Collection[str], texts: Iterable[str]) -> set[str]:
    """Those of the names that stand at the start of a tag in a text, also as the beginning of a name."""
    if not names:
        return set()
    lengths = sorted({len(name) for name in names})
    tag = re.compile(rf"<[\s\\/]*([A-Za-z][^<]{{0,{lengths[-1] - 1}}})")
    heads = {head.casefold() for text in texts for head in set(tag.findall(text))}
    return {head[:length] for head in heads for length in lengths if head[:length] in names}


def _free_number(texts: Iterable[str]) -> int:
    """The first number from 2 that no text has behind a hyphen, also not as the beginning of another."""
    used = {digits for text in texts for digits in _NUMBER.findall(text)}
    used = {digits[:length] for digits in used for length in range(1, len(digits) + 1)}
    return next(number for number in count(2) if str(number) not in used)


def _quote_edits(layout: Layout, quoted: Iterable[tuple[Group, int]]) -> list[Edit]:
    edits: list[Edit] = []
    for group, marks in quoted:
        opening = layout.mask[group.start - 1]
        closing = _QUOTES[opening]
        text = group.seen
        starts, ends = text.startswith((opening, closing)), text.endswith((opening, closing))
        inside = _longest_run(closing, text)
        if inside < marks and not starts and not ends:
            continue
        more = max(3, marks, 1 + max(inside, _longest_run(opening, text)))
        edits.append((group.start - marks, group.start, opening * more + " " * starts))
        edits.append((group.end, group.end + marks, " " * ends + closing * more))
    return edits
