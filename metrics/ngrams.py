"""N-gram matching of many texts against one reference.

The counts are those of sacrebleu (``extract_all_word_ngrams``, ``extract_all_char_ngrams`` and the clipped
matches of BLEU and chrF). What differs is the work: the reference is counted once, clipped matches are found
among its n-grams only, and a text that is a variant of one met before is counted only around its edit.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Hashable, Iterator, Sequence
from operator import add
from typing import Any, NamedTuple

# A text and its variants come one after the other, now and then with a variant that changes all of it.
_BASES_KEPT = 2
# Counting around an edit costs about three times as much a place as counting all.
_EDIT_SHARE = 3

Grams = Sequence[Hashable]


def character_ngrams(text: str, order: int) -> Iterator[list[str]]:
    """The n-grams of ``text`` for n = 1 … ``order``; a list is empty where the text is too short."""
    grams = list(text)
    yield grams
    for n in range(1, order):
        # One more character behind each shorter n-gram; the shorter sequence ends the map.
        grams = list(map(add, grams, text[n:]))
        yield grams


def word_ngrams(words: tuple[str, ...], order: int) -> Iterator[list[tuple[str, ...]]]:
    """The n-grams of ``words`` for n = 1 … ``order``; a list is empty where there are too few words."""
    for n in range(1, order + 1):
        yield list(zip(*(words[start:] for start in range(n)), strict=False))


class Matches(NamedTuple):
    """For each order: n-grams of the hypothesis, and how many of them the reference has (clipped)."""

    totals: list[int]
    matches: list[int]


class _Base(NamedTuple):
    """A text counted in full: its n-grams that the reference has."""

    text: Any
    counts: list[Counter[Hashable]]
    matches: list[int]


class ReferenceGrams:
    """The n-grams of one reference: a string (of characters) or a tuple (of words)."""

    def __init__(self, reference: str | tuple[str, ...], order: int) -> None:
        self.order = order
        self.length = len(reference)
        self._counts = [Counter(grams) for grams in self._grams(reference)]
        self._repeated = [
            [(gram, count) for gram, count in counts.items() if count > 1] for counts in self._counts
        ]
        self._bases: deque[_Base] = deque(maxlen=_BASES_KEPT)

    @property
    def totals(self) -> list[int]:
        """N-grams of the reference, for each order."""
        return _totals(self.length, self.order)

    def match(self, text: str | tuple[str, ...]) -> Matches:
        """Match a text of the reference's type. The answer does not depend on what was matched before."""
        totals = _totals(len(text), self.order)
        for base in self._bases:
            start, end = _shared_ends(base.text, text)
            if _EDIT_SHARE * (max(len(base.text), len(text)) - start - end) <= len(text):
                return Matches(totals, self._around_edit(base, text, start, end))
        # N-grams that the reference does not have never match: leaving them out saves most of the counting.
        counts = [
            Counter(filter(known.__contains__, grams))
            for known, grams in zip(self._counts, self._grams(text), strict=True)
        ]
        matches = list(map(_clipped, counts, self._repeated))
        self._bases.appendleft(_Base(text, counts, matches))
        return Matches(totals, matches)

    def _grams(self, text: str | tuple[str, ...]) -> Iterator[Grams]:
        if isinstance(text, str):
            return character_ngrams(text, self.order)
        return word_ngrams(text, self.order)

    def _around_edit(self, base: _Base, text: Any, start: int, end: int) -> list[int]:
        """Matches of a text that shares its first ``start`` and last ``end`` places with a base."""
        found = []
        for n in range(1, self.order + 1):
            known, before = self._counts[n - 1], base.counts[n - 1]
            changes: dict[Hashable, int] = {}
            for gram in _touching(text, n, start, end, known):
                changes[gram] = changes.get(gram, 0) + 1
            for gram in _touching(base.text, n, start, end, known):
                changes[gram] = changes.get(gram, 0) - 1
            matches = base.matches[n - 1]
            for gram, change in changes.items():
                if change:
                    most, count = known[gram], before.get(gram, 0)
                    matches += min(count + change, most) - min(count, most)
            found.append(matches)
        return found


def _totals(length: int, order: int) -> list[int]:
    return [max(0, length - n) for n in range(order)]


def _clipped(counts: Counter[Hashable], repeated: list[tuple[Hashable, int]]) -> int:
    """Each distinct n-gram counts as often as it occurs in both: once, and more where both repeat it."""
    found = len(counts)
    for gram, most in repeated:
        count = counts.get(gram, 0)
        if count > 1:
            found += min(count, most) - 1
    return found


def _touching(text: Any, n: int, start: int, end: int, known: Container[Hashable]) -> list[Any]:
    """The known n-grams that lie neither within the first ``start`` nor within the last ``end`` places."""
    last = min(len(text) - end, len(text) - n + 1)
    return [gram for at in range(max(0, start - n + 1), last) if (gram := text[at : at + n]) in known]


def _shared_ends(one: Any, other: Any) -> tuple[int, int]:
    """Lengths of the longest common start and, of what is left, the longest common end."""
    shorter = min(len(one), len(other))
    start, most = 0, shorter
    while start < most:
        middle = (start + most + 1) // 2
        if one[start:middle] == other[start:middle]:
            start = middle
        else:
            most = middle - 1
    end, most = 0, shorter - start
    while end < most:
        middle = (end + most + 1) // 2
        if one[len(one) - middle : len(one) - end] == other[len(other) - middle : len(other) - end]:
            end = middle
        else:
            most = middle - 1
    return start, end
