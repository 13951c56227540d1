"""Prompts before their texts are put in: the template's words with a mark for each text."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from metrics.judges.templates import Piece, Text

Edit = tuple[int, int, str]
"""Replace the template's words from here to there."""


@dataclass(frozen=True, slots=True)
class Group:
    """Texts that stand side by side in a template, as one; offsets are those of the mask."""

    start: int
    end: int
    text: str
    seen: str
    """The text as ``seen_text`` has it."""
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The template's words with one mark for each text."""

    mask: str
    mark: str
    texts: tuple[Text, ...]
    groups: tuple[Group, ...]
    starts: tuple[int, ...]
    """Where the groups start, ascending."""

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Layout:
        """The layout of these pieces."""
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
            names = tuple(text.name for text in held)
            groups.append(Group(match.start(), match.end(), joined, seen_text(joined), names))
        return cls(mask, mark, texts, tuple(groups), tuple(group.start for group in groups))

    def seen(self, start: int, end: int) -> str:
        """The mask from here to there as ``seen_text`` has it, with the texts in place."""
        out, done = [], start
        for group in self.groups[bisect_left(self.starts, start) : bisect_left(self.starts, end)]:
            out += [seen_text(self.mask[done : group.start]), group.seen]
            done = group.end
        return "".join([*out, seen_text(self.mask[done:end])])

    def filled(self, edits: Iterable[Edit]) -> str:
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


def seen_text(text: str) -> str:
    """What a reader may take for a mark is that mark here.

    Full-width and other compatible forms become the plain one; accents and invisible characters go, which
    may stand between marks. Each character is looked at alone: putting a run of accents in order, as
    normalisation of a whole text does, takes time that grows with the square of its length.
    """
    if text.isascii():
        return text
    return text.translate({ord(character): _plain(character) for character in set(text)})


def _plain(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character)
    return "".join(part for part in parts if unicodedata.category(part) not in ("Cf", "Mn"))
