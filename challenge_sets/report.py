"""The data report: everything that reading changed or found odd, counted and with examples."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

from challenge_sets.errors import InputError

EXAMPLES_KEPT = 5

_LINE_BREAKS_INSIDE = re.compile("[\u2028\u2029\u0085\x0b\x0c]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class DataReport:
    """Counts what was normalised, kept although unusual, or skipped, and where it was seen first."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._places: dict[str, list[str]] = {}

    def note(self, what: str, place: str = "", *, times: int = 1) -> None:
        """Count ``what`` and remember the first few places it was seen at."""
        if times <= 0:
            return
        self.counts[what] += times
        places = self._places.setdefault(what, [])
        if place and place not in places and len(places) < EXAMPLES_KEPT:
            places.append(place)

    def text(self, value: str, *, path: str | Path = "", line: int | None = None) -> str:
        """Return ``value`` in Unicode NFC; count the change and any character that breaks other tools.

        Raises ``InputError`` for a lone surrogate, which no UTF-8 file can hold.
        """
        if not isinstance(value, str):
            raise ValueError(f"a text is expected where {value!r} stands")
        if value.isascii() and value.isprintable():
            return value
        place = f"{Path(path).name}:{line}" if line else Path(path).name
        if _SURROGATE.search(value):
            raise InputError(
                "text holds a lone surrogate, which is no character",
                path=path or None,
                line=line,
                hint="repair the escape (\\ud800 to \\udfff must come in pairs)",
            )
        if "\r" in value:
            self.note("carriage return kept inside a text", place)
        if _LINE_BREAKS_INSIDE.search(value):
            self.note("line or form separator kept inside a text", place)
        if unicodedata.is_normalized("NFC", value):
            return value
        self.note("text normalised to NFC", place)
        return unicodedata.normalize("NFC", value)

    def to_json(self) -> dict[str, Any]:
        """Counts and examples, sorted by name, for the manifest of a set."""
        return {
            what: {"count": count, "examples": self._places.get(what, [])}
            for what, count in sorted(self.counts.items())
        }
