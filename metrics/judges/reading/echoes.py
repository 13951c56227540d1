"""Texts that an answer repeats: what stands in them is no judgement, whoever wrote it there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache

from challenge_sets.records import Severity
from metrics.judges.forms import Judged
from metrics.judges.reading.dress import INVISIBLE
from metrics.judges.reading.forged import holds_error, keyed_in, labelled_in, without_errors

_WORD = re.compile(r"[^\W_]+")
_LONGEST_CACHED = 200
_NO_QUOTES = re.compile(r"[\s\"'`“”„‘’«»「」『』\\]+")
_UNSEEN = dict.fromkeys(map(ord, INVISIBLE))
_DRESS: dict[int, str | None] = (
    dict.fromkeys(map(ord, "*_~#>|"))
    | dict.fromkeys(map(ord, "“”„«»「」『』‘’'`"), '"')
    | dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
)
_LOOSE = _DRESS | dict.fromkeys(map(ord, ":-‐‑‒–—―−•·`"))


def _folded(text: str) -> str:
    if text.isascii():
        return text.casefold()
    return unicodedata.normalize("NFKC", text).translate(_UNSEEN).casefold()


def _key(folded: str, loosely: bool) -> str:
    return "".join(folded.split()).translate(_LOOSE if loosely else _DRESS)


def _bare(folded: str) -> str:
    return _NO_QUOTES.sub("", folded)


def _without_front(key: str) -> str:
    """The key from its first letter or digit on; without quotes at its end where one stood in front."""
    start = next((at for at, character in enumerate(key) if character.isalnum()), len(key))
    return key[start:].rstrip('"') if '"' in key[:start] else key[start:]


def _stands(wanted: str, text: str) -> bool:
    """Whether ``text`` holds ``wanted``, not in the middle of a number."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not (wanted[-1:].isdigit() and text[end : end + 1].isdigit()):
            return True
        at = text.find(wanted, at + 1)
    return False


def words_of(text: str) -> str:
    """The words of a text alone: neither dress nor punctuation makes an echo another text."""
    return _words(text) if len(text) > _LONGEST_CACHED else _remembered(text)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(_folded(text)))


_remembered = lru_cache(maxsize=8192)(_words)


class Given:
    """The texts that were given to a judge."""

    def __init__(self, judged: Judged) -> None:
        self.texts = tuple(
            text for text in (judged.hypothesis, judged.source, *judged.others) if text.strip()
        )
        self._keys: dict[tuple[int, bool], str] = {}
        self._held: dict[tuple[str, bool], bool] = {}
        self._scores: dict[float, frozenset[float]] = {}

    @cached_property
    def several_lines(self) -> tuple[str, ...]:
        """The texts of more than one line."""
        return tuple(text for text in self.texts if "\n" in text.strip())

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        return tuple(map(_folded, self.texts))

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        return tuple(_joined(text.split("\n")) for text in self.texts)

    def scores(self, whole: float) -> frozenset[float]:
        """The numbers that the texts label as scores, or give out of ``whole``."""
        if whole not in self._scores:
            self._scores[whole] = labelled_in(self._plain, whole)
        return self._scores[whole]

    @cached_property
    def keyed_scores(self) -> frozenset[float]:
        """The numbers under keys of scores, in whatever looks like JSON."""
        return keyed_in(self._plain)

    @cached_property
    def denied(self) -> frozenset[Severity]:
        """The severities of which some text says that there is no such error."""
        return frozenset().union(*map(without_errors, self._plain))

    def hold_error(self, category: str, quote: str) -> bool:
        """Whether a text names an error of this class with this quote, however it is punctuated."""
        return any(holds_error(text, _folded(category), _folded(quote)) for text in self._plain)

    @cached_property
    def _squeezed(self) -> tuple[str, ...]:
        return tuple(_bare(text) for text in self._plain if any(sign in text for sign in "{["))

    def hold_inside(self, source: str) -> bool:
        """Whether a text holds what is inside this JSON object, quotes and white space apart."""
        inside = _bare(_folded(source))[1:-1]
        return inside != "" and any(_stands(inside, text) for text in self._squeezed)

    def hold(self, said: str, *, loosely: bool = False) -> bool:
        """Whether a text holds ``said``, white space, emphasis and the shape of quotes and dashes apart.

        ``loosely``: bullets, colons and hyphens apart as well.
        """
        if (said, loosely) not in self._held:
            self._held[said, loosely] = self._holds(said, loosely)
        return self._held[said, loosely]

    def _holds(self, said: str, loosely: bool) -> bool:
        first = words_of(said).partition(" ")[0]
        # Most texts do not even hold the first word.
        near = [number for number, plain in enumerate(self._plain) if first in plain] if first else []
        if not near:
            return False
        wanted = _without_front(_key(_folded(said), loosely))
        return any(_stands(wanted, self._key_of(number, loosely)) for number in near)

    def hold_lines(self, lines: Sequence[str]) -> bool:
        """Whether these lines stand one after the other in a text, each as a whole line."""
        wanted = _joined(lines)
        return wanted != "\n" and any(wanted in known for known in self._lines)

    def hold_beside(self, lines: Sequence[str], at: int) -> bool:
        """Whether a text has the line ``at`` beside one that the answer has there too, or ends with."""
        own = [words_of(line) for line in lines[max(0, at - 1) : at + 2]]
        place = min(at, 1)
        for text in self.several_lines:
            known = [key for line in text.split("\n") if (key := words_of(line))]
            for number, key in enumerate(known):
                if key != own[place]:
                    continue
                before = known[number - 1] if number and place else ""
                after = known[number + 1] if number + 1 < len(known) and place + 1 < len(own) else ""
                if (before and own[place - 1].endswith(before)) or (
                    after and own[place + 1].startswith(after)
                ):
                    return True
        return False

    def _key_of(self, number: int, loosely: bool) -> str:
        if (number, loosely) not in self._keys:
            self._keys[number, loosely] = _key(self._plain[number], loosely)
        return self._keys[number, loosely]

    def parts_apart(self, lines: Sequence[str]) -> list[list[str]] | None:
        """The answer without the texts of several lines that it repeats in full.

        ``None`` where it repeats none. A text may begin within a line, behind words that announce it.
        """
        patterns = {
            pattern for text in self.several_lines if (pattern := _joined(text.split("\n"))).count("\n") > 2
        }
        if not patterns:
            return None
        keys = [(number, key) for number, line in enumerate(lines) if (key := words_of(line))]
        whole = "\n" + "".join(f"{key}\n" for _, key in keys)
        numbers = [number for number, _ in keys]
        repeated: list[tuple[int, int]] = []
        for pattern in patterns:
            at, counted, before = whole.find(pattern[1:]), 0, 0
            while at >= 0:
                end = at + len(pattern) - 1
                before, counted = before + whole.count("\n", counted, at), at
                if whole[at - 1] in "\n ":
                    last = before - 1 + pattern.count("\n") - 2
                    repeated.append((numbers[before - 1], numbers[last]))
                at = whole.find(pattern[1:], end)
        return _between(lines, sorted(repeated)) if repeated else None


def _joined(lines: Sequence[str]) -> str:
    """The words of each line that has any, each between two line ends."""
    return "\n" + "".join(f"{key}\n" for line in lines if (key := words_of(line)))


def _between(lines: Sequence[str], repeated: list[tuple[int, int]]) -> list[list[str]]:
    parts, start = [], 0
    for first, last in repeated:
        parts.append(list(lines[start:first]))
        start = max(start, last + 1)
    parts.append(list(lines[start:]))
    return parts
