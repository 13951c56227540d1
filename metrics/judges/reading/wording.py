"""How an error is worded on its line: a class, perhaps a severity, and a quote."""

from __future__ import annotations

import re
from typing import NamedTuple

from challenge_sets.records import Severity
from metrics.judges.reading.denials import denies
from metrics.judges.reading.dress import MARKS
from metrics.judges.reading.quotes import CLOSING, OPENING
from metrics.judges.reading.vocabulary import (
    NO_ERRORS,
    SEVERITIES,
    SEVERITY_NAMES,
    Classes,
    classes_of,
    is_remark,
)


class Named(NamedTuple):
    """An error's class, as known or as written; empty for "no-error" where a class would stand.

    ``quote_at`` is the offset of the opening quote in the line, ``quote_end`` the end of what may belong to
    the quote (``None``: of the line).
    """

    category: str
    severity: Severity | None = None
    quote_at: int | None = None
    quote_end: int | None = None
    problem: str = ""


_REACH = 160  # No class with its severity is longer than that.
_FIRST_QUOTE = re.compile(rf"(?:^|(?<=[\s\-–—:,=>→*_~(\[]))[{re.escape(OPENING)}]")
_LAST_QUOTE = re.compile(
    rf"[{re.escape(''.join(CLOSING.values()))}](?=[^{re.escape(''.join(CLOSING.values()))}]*$)"
)
_SEVERITY_LAST = re.compile(rf"(?:[\s/\-–—(\[<,:;]|^)({SEVERITY_NAMES})[\s)\]>]*$", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s+[-–—]+\s+|\s*:\s+")
_SIGNS = "-–—:,=>→"
_AROUND = MARKS + "[]<>"
_NO_ERROR_FIRST = re.compile(
    rf"(?:{'|'.join(sorted(map(re.escape, NO_ERRORS), key=len, reverse=True))})(?![^\W_])", re.IGNORECASE
)
_MOST_WORDS = 5
_LIST_SIGN = re.compile(r"[,;&+/|]|\d[.)]|\band\b|\bund\b|\balso\b|[.)]\s")
_LISTED_ON = re.compile(r"\W*(?:[,;&+|]|and\b|und\b|also\b|\d[.)])", re.IGNORECASE)
# Sentences begin like that, and names of classes do not.
_BEGINNINGS = (
    "the this that these those it its he she they i we you a an here there which as in of das die der dies es"
)


def named_error(text: str, names: tuple[str, ...]) -> Named | None:
    """What error the plain line names, its prefix taken off; ``None`` if it names none.

    A known class needs no quote; an unknown one is taken as it is written, where a dash and a quote follow.
    """
    classes = classes_of(names)
    quote = _FIRST_QUOTE.search(text, 0, _REACH)
    if quote is None:
        return _without_quote(text, classes)
    if quote.start() == 0:
        return _quote_first(text, classes)
    before = text[: quote.start()].rstrip(MARKS + "([<")
    name = before.rstrip(_SIGNS + MARKS)
    name, severity = _severity_apart(name)
    category = classes.named(name)
    if category is None:
        return _unknown(name, before, severity, text, quote.start(), classes) or _without_quote(text, classes)
    return Named(category, severity, quote.start())


def _severity_apart(name: str) -> tuple[str, Severity | None]:
    found = _SEVERITY_LAST.search(name[-_REACH:])
    if found is None:
        return name, None
    rest = name[: len(name) - len(found[0])].rstrip(_SIGNS + MARKS + "(")
    return (rest, SEVERITIES[found[1].casefold()]) if rest else (name, None)


def _unknown(
    name: str, before: str, severity: Severity | None, text: str, at: int, classes: Classes
) -> Named | None:
    """A class that nobody asked for."""
    name = name.strip(_AROUND).strip()
    if len(classes.spelled_in(text[:at])) > 1:
        return Named("", problem="two classes on one line")
    words = " ".join(name.casefold().split())
    if _NO_ERROR_FIRST.match(words):
        if words not in NO_ERRORS:
            return Named("", problem="no-error and an error on one line")
        quoted = text[at + 1 :].strip(MARKS + "".join(CLOSING.values()) + OPENING + ".,;")
        return Named("", problem="no-error and a quote on one line") if quoted else Named("")
    # An arrow rather leads from what is wrong to what would be right.
    dashed = before[-1:] in "-–—" or (before[-1:] == ":" and "/" in name)
    if not dashed or not any(map(str.isalpha, name)) or is_remark(name):
        return None
    if len(name.split()) > _MOST_WORDS or words.partition(" ")[0] in _BEGINNINGS.split():
        return None
    if ":" in name:
        return Named(
            "", problem=f"an error under {name.partition(':')[0]!r}, which is no severity that is known"
        )
    return Named(name, severity, at)


def _quote_first(text: str, classes: Classes) -> Named | None:
    """``"bank" - accuracy/mistranslation``, or a quote that nothing names."""
    last = _LAST_QUOTE.search(text)
    if last is None or last.start() == 0:
        return None
    rest = text[last.end() :].strip(_SIGNS + MARKS + ".")
    if not rest:
        return Named("", problem="a quote without a class")
    name, severity = _severity_apart(rest[:_REACH].rstrip(")]"))
    category = classes.full(name)
    return None if category is None or len(rest) > _REACH else Named(category, severity, 0, last.end())


def _without_quote(text: str, classes: Classes) -> Named | None:
    """A known class alone on the line, or one of two parts with an explanation behind a dash."""
    head = text[:_REACH]
    if len(text) <= _REACH and not head.rstrip(MARKS).endswith(":"):
        name, severity = _severity_apart(head.strip(MARKS + "."))
        category = classes.full(name)
        if category is not None:
            return Named(category, severity)
    for found in _SEPARATOR.finditer(head):
        name, severity = _severity_apart(head[: found.start()].strip(MARKS))
        category = classes.full(name)
        if category is not None and ("/" in category or "-" in category):
            rest = " ".join(text[found.end() :].strip(MARKS + ".()").split()).casefold()
            if rest in NO_ERRORS or not rest or denies(rest):
                return Named("", problem=f"{category} without saying whether it is an error")
            if further_error(rest, classes):
                return Named("", problem="two errors on one line")
            return Named(category, severity)
    return None


def further_error(after: str, classes: Classes) -> bool:
    """Whether what follows an error on its line names another, by a class and a quote or as in a list."""
    quote = _FIRST_QUOTE.search(after)
    spelled = classes.spelled_in(after)
    if spelled and (quote is not None or _LISTED_ON.match(after)):
        return True
    for quote in _FIRST_QUOTE.finditer(after):
        # The class stands between the last sign of a list and the quote.
        piece = _LIST_SIGN.split(after[: quote.start()])[-1]
        name, _ = _severity_apart(piece.strip(_SIGNS + _AROUND + "().").removeprefix("also "))
        if classes.named(name) or classes.last(name):
            return True
    return False
