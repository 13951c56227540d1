"""Lines in the shape of an error that say of their class that there is none, or fill in nothing."""

from __future__ import annotations

import re

from metrics.judges.reading.dress import MARKS
from metrics.judges.reading.faults import said_in
from metrics.judges.reading.locating import Marker
from metrics.judges.reading.vocabulary import NO_ERRORS, class_key

_DENIES = re.compile(
    r"(?:no|not|nothing|none|nil|n/a|never|without|kein\w*|nichts?)\b|"
    r".{0,80}\b(?:no|not an?y?|without) (?:\w+ )?(?:errors?|issues?|problems?|mistakes?)\b|"
    r".{0,80}\bnot (?:present|found|applicable|detected|observed)\b",
)
_ENDS = MARKS + ".,;:()[]<>{}\"'“”…"
_NO_TARGET = ("omission", "non translation", "auslassung", "untranslated")
# What a prompt writes where a judge is to write something.
_BLANKS = frozenset(
    (
        "",
        "...",
        "…",
        "span",
        "text",
        "quote",
        "quoted text",
        "error span",
        "target span",
        "the span",
        "error",
        "class",
    )
)
_TEMPLATES = frozenset(
    ("class", "category", "type", "error type", "error class", "error category", "category subcategory")
)


def denies(said: str) -> bool:
    """Whether what follows the name of a class says that there is no such error."""
    words = " ".join(said.split()).casefold().lstrip(_ENDS + "-–—")
    return _DENIES.match(words) is not None and not said_in(words).fault


def no_quote(category: str, quote: str | None, after: str, marker: Marker) -> str:
    """Why a class and what is quoted are no error; empty where they are one.

    "no error" is taken as a quote: a translation may say so.
    """
    if class_key(category) in _TEMPLATES:
        return f"{category!r} stands for a class and is none"
    denied = denies(after) or after.strip(_ENDS + "-–—").casefold() in NO_ERRORS
    words = " ".join((quote or "").split()).casefold()
    if not words and not (quote and marker.holds(quote)):
        # Nothing of the translation is to be quoted where something is not in it.
        may_be_empty = any(name in class_key(category) for name in _NO_TARGET)
        said = any(map(str.isalpha, after)) or may_be_empty
        return "" if said and not denied else f"{category} with a quote that is left blank"
    bare = words.strip("<>[]{}() ")
    blank = bare in _BLANKS or (bare.rstrip(".") in NO_ERRORS and bare != "no error")
    return f"{category} with {words!r} for a quote" if blank and not marker.holds(quote or "") else ""
