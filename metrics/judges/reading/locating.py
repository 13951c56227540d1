"""Where a text holds what a judge quoted from it, in half-open offsets of the untouched text."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from challenge_sets import MarkedError, Span
from challenge_sets.records import Severity
from metrics.judges.forms import Judged
from metrics.judges.reading.dress import INVISIBLE

# What typography varies; the ellipsis and full-width forms are the business of NFKC.
_ALIKE = (
    {ord(character): '"' for character in "“”„‟«»「」『』″〝〞"}
    | {ord(character): "'" for character in "‘’‚‛′‹›`´"}
    | {ord(character): "-" for character in "‐‑‒–—―−"}
    | dict.fromkeys(map(ord, INVISIBLE))
)


_LONGEST_PART = 80
_ENDS = " \t\r.,;:!?\"“”'’"


class _Folded(NamedTuple):
    """A normalised text: ``starts[i]`` and ``ends[i]`` bound what its character ``i`` came from."""

    text: str
    starts: list[int]
    ends: list[int]


def _fold(text: str, any_case: bool) -> _Folded:
    """NFKC, straight quotes and dashes, one space for a run of white space, none at the ends."""
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _continues(text[start:end], text[end]):
            end += 1
        folded = unicodedata.normalize("NFKC", text[start:end]).translate(_ALIKE)
        for character in folded.casefold() if any_case else folded:
            space = character.isspace()
            if space and (not characters or characters[-1] == " "):
                continue
            characters.append(" " if space else character)
            starts.append(start)
            ends.append(end)
        start = end
    if characters and characters[-1] == " ":
        characters.pop()
    return _Folded("".join(characters), starts, ends)


def _continues(before: str, character: str) -> bool:
    """Whether the character may compose with those before it."""
    # Vowels and finals of Hangul, and the sound marks of half-width kana, are no combining characters.
    if unicodedata.combining(character) != 0 or "\u1160" <= character <= "\u11ff" or character in "ﾞﾟ":
        return True
    # Nor are the parts of vowels in Indic scripts, of which only some compose.
    return (
        character >= "\u0900" and unicodedata.category(character)[0] == "M" and _composes(before, character)
    )


def _composes(before: str, character: str) -> bool:
    whole = unicodedata.normalize("NFC", before + character)
    return len(whole) <= len(unicodedata.normalize("NFC", before))


class Finder:
    """Finds quotes in one text, each time at the first place that no equal quote has taken."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folds: dict[bool, _Folded] = {}
        self._next: dict[tuple[str, str], int] = {}
        self._nowhere: set[str] = set()

    def holds(self, quote: str) -> bool:
        """Whether the text holds the quote, as it is or normalised."""
        if quote in self._text:
            return True
        if self._too_long(quote):
            return False
        wanted = _fold(quote, any_case=True).text
        return bool(wanted) and wanted in self._folded(any_case=True).text

    def take(self, quote: str) -> Span | None:
        """The place of the quote: as it is, else normalised, else whatever the case; ``None``: nowhere."""
        if not quote.strip() or quote in self._nowhere:
            return None
        at = self._first_free("exact", quote, self._text)
        if at >= 0:
            return Span(at, at + len(quote), quote)
        found = None if self._too_long(quote) else self._normalised(quote)
        if found is None:
            self._nowhere.add(quote)
        return found

    def _normalised(self, quote: str) -> Span | None:
        for tier, any_case in (("normalised", False), ("any case", True)):
            wanted = _fold(quote, any_case).text
            folded = self._folded(any_case)
            at = self._first_free(tier, wanted, folded.text) if wanted else -1
            if at >= 0:
                start, end = folded.starts[at], folded.ends[at + len(wanted) - 1]
                return Span(start, end, self._text[start:end])
        return None

    def _folded(self, any_case: bool) -> _Folded:
        if any_case not in self._folds:
            self._folds[any_case] = _fold(self._text, any_case)
        return self._folds[any_case]

    def _too_long(self, quote: str) -> bool:
        # White space and what is not seen may make a quote longer than its place, but not by so much.
        return len(quote) > 3 * len(self._text) + 100

    def _first_free(self, tier: str, wanted: str, text: str) -> int:
        at = text.find(wanted, self._next.get((tier, wanted), 0))
        if at < 0:
            at = text.find(wanted)
        if at >= 0:
            self._next[tier, wanted] = at + len(wanted)
        return at


class Marker:
    """Makes the errors of one answer, each with its place in the texts."""

    def __init__(self, judged: Judged) -> None:
        self._hypothesis = Finder(judged.hypothesis)
        self._source = Finder(judged.source)
        self._others = judged.others
        self._text = judged.hypothesis

    def holds(self, quote: str) -> bool:
        """Whether the judge can have quoted this: a text that it was given holds it."""
        finders = (self._hypothesis, self._source, *map(Finder, self._others))
        return any(finder.holds(quote) for finder in finders)

    def only_given(self, quote: str) -> bool:
        """Whether the source or another text holds this, and the translation does not."""
        return not self._hypothesis.holds(quote) and self.holds(quote)

    def holds_part(self, words: str) -> bool:
        """Whether the translation holds these words, and more on the line where they stand."""
        if len(words) > _LONGEST_PART or not self._hypothesis.holds(words):
            return False
        wanted = words.casefold()
        return all(line.strip(_ENDS).casefold() != wanted for line in self._text.split("\n"))

    def error(
        self, severity: Severity, category: str | None, quote: str | None, source: str | None = None
    ) -> MarkedError:
        """An error with its quote as written; an omission may quote the source, or have one of its own."""
        span = self._hypothesis.take(quote) if quote else None
        omitted = None
        if source:
            omitted = self._source.take(source)
        elif quote and span is None and category is not None and "omission" in category.casefold():
            omitted = self._source.take(quote)
        return MarkedError(span, severity, category=category, quote=quote or source or None, source=omitted)
