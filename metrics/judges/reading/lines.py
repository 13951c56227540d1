"""What one line of an annotation is: a heading, an error, the word that there is none, or talk."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from challenge_sets.records import Severity
from metrics.judges.reading.dress import MARKS, is_fence, plain, prefix_length
from metrics.judges.reading.faults import said_in
from metrics.judges.reading.vocabulary import (
    AMBIGUOUS,
    NO_ERRORS,
    SEVERITIES,
    SEVERITY_NAMES,
    classes_of,
    is_remark,
)
from metrics.judges.reading.wording import Named, named_error

LineKind = Literal[
    "blank", "heading", "no_error", "error", "remark", "unknown", "ambiguous", "unclear", "prose"
]


class Line(NamedTuple):
    """One line. ``severity`` is that of a heading, or the one that an error bears itself.

    ``content`` is what follows a heading on its own line. ``quoted`` is the line from the opening quote on,
    as it was written, ``None`` for an error without a quote. ``problem`` says why a line is ``unclear``, or
    why prose may be an error.
    """

    kind: LineKind
    severity: Severity | None = None
    category: str = ""
    quoted: str | None = None
    content: Line | None = None
    problem: str = ""


BLANK = Line("blank")
PROSE = Line("prose")
UNKNOWN = Line("unknown")

_LONGEST_CACHED = 200
_SEPARATED = re.compile(
    rf"(?P<open>[\[(<]?)\s*(?P<name>{SEVERITY_NAMES})\s*(?P<close>[\])>]?)[\s*_`~]*(?P<sign>[:=\-–—])?"
    r"(?P<gap>[\s*_`~]*)(?=\S)",
    re.IGNORECASE,
)
_TWO_NAMES = re.compile(r"([^()/]{1,40}?)\s*[(/]\s*([^()/]{1,40}?)\s*\)?")
_COLON_HEADING = re.compile(r"[^\"“”„«»「」『』\n]{1,40}[:：][\s*_`~]*")
_BOLD_HEADING = re.compile(r"\s*(?:\*\*|__)[^*_\n]{1,40}(?:\*\*|__)\s*")
_WITH_REMARK = re.compile(
    r"(?P<said>[^(.:;\-–—\"“”]{2,40}?|no-errors?)\s*(?:[.;:]\s|\(|\s[-–—]\s)(?P<remark>.*)", re.DOTALL
)
_FIRST_SIGN = re.compile(r"[\])*_]*\s*(?::|\s[-–—]\s)")
_PAIRS = {"[": "]", "(": ")", "<": ">"}


def read_line(line: str, classes: tuple[str, ...]) -> Line:
    """What the line is, for a form with these classes of errors (empty: those of MQM)."""
    return _read(line, classes) if len(line) > _LONGEST_CACHED else _remembered(line, classes)


def _read(line: str, classes: tuple[str, ...]) -> Line:
    if is_fence(line):
        return BLANK
    text = plain(line)
    start = prefix_length(text)
    text, raw = text[start:], line[start:]
    if not text.strip():
        return BLANK
    words = bare_words(text)
    heading = severity_of(words)
    if heading is not None:
        return Line("heading", heading)
    if words in AMBIGUOUS:
        return Line("ambiguous", problem=f"the heading {words!r} does not say which severity it means")
    return _under_heading(text, raw, classes) or _item(text, raw, classes) or _talk(line, text)


_remembered = lru_cache(maxsize=8192)(_read)


def bare_words(text: str) -> str:
    """A short plain line, case-folded, without marks, brackets around it, or a colon at its end."""
    words = text.strip(MARKS + ":")
    if words[:1] in _PAIRS and words[-1:] == _PAIRS[words[0]]:
        words = words[1:-1].strip(MARKS + ":")
    return " ".join(words.split()).casefold()


def severity_of(words: str) -> Severity | None:
    """The severity that bare words name, in one language or in two."""
    found = SEVERITIES.get(words)
    if found is None and len(words) < 80 and ("(" in words or "/" in words):
        two = _TWO_NAMES.fullmatch(words)
        if two is not None:
            first, second = SEVERITIES.get(two[1]), SEVERITIES.get(two[2])
            found = first if first == second else None
    return found


def _item(text: str, raw: str, classes: tuple[str, ...]) -> Line | None:
    """A line that is an error or says that there is none."""
    no_error = _no_error(text, classes)
    if no_error is not None:
        return no_error
    named = named_error(text, classes)
    return None if named is None else _from_named(named, raw)


def _no_error(text: str, classes: tuple[str, ...]) -> Line | None:
    words = bare_words(text).rstrip(".!;,。").rstrip()
    if words in NO_ERRORS:
        return Line("no_error", NO_ERRORS[words])
    # "no-error (it reads well)": what is said after it is talk, unless it may be an error.
    said = _WITH_REMARK.match(text)
    if said is None:
        return None
    words = bare_words(said["said"])
    if words not in NO_ERRORS or any(quote in said["remark"] for quote in '"“„«「『'):
        return None
    if _may_be_error(said["remark"], classes):
        return Line("prose", problem="it says no-error, and then what may be an error")
    return Line("no_error", NO_ERRORS[words])


def _may_be_error(remark: str, classes: tuple[str, ...]) -> bool:
    """Whether what follows "no-error" may name an error after all."""
    if named_error(remark, classes) is not None:
        return True
    said = said_in(remark)
    # "(though it is stiff)" takes back what stands before it.
    taken_back = said_in(f"no error {remark}").excepted
    known = classes_of(classes)
    return said.fault or taken_back or bool(said.severities) or bool(known.spelled_in(remark))


def _from_named(named: Named, raw: str) -> Line:
    quoted = None if named.quote_at is None else raw[named.quote_at : named.quote_end]
    if named.problem:
        return Line("unclear", problem=named.problem)
    if not named.category:
        return Line("no_error")
    return Line("error", named.severity, named.category, quoted)


def _under_heading(text: str, raw: str, classes: tuple[str, ...]) -> Line | None:
    """A severity and what follows it on its line."""
    found = _SEPARATED.match(text)
    if found is None or _PAIRS.get(found["open"], "") != found["close"]:
        return None
    between = text[found.end("name") : found.end()]
    if not between:
        return None
    severity = SEVERITIES[found["name"].casefold()]
    item = _item(text[found.end() :], raw[found.end() :], classes)
    emphasis = any(mark in between for mark in "*_")
    if item is None or item.kind == "prose":
        if found["sign"] == ":":
            return Line("heading", severity, content=item or PROSE)
        # "Major-league" begins with no severity.
        dashed = found["sign"] and not (found["sign"] in "-–—" and _glued(text, found))
        if dashed or found["close"] or emphasis:
            return Line("prose", problem=f"it is called {severity} and is no error in form")
        return None
    if item.kind == "no_error":
        marked = found["sign"] or found["close"] or emphasis
        return Line("heading", severity, content=item) if marked else None
    if item.kind == "unclear":
        return item
    if item.severity not in (None, severity):
        return Line("unclear", problem="an error bears two severities")
    if found["sign"] == ":" and not found["open"]:
        return Line("heading", severity, content=item)
    return item._replace(severity=severity)


def _glued(text: str, found: re.Match[str]) -> bool:
    """Whether the sign joins two words."""
    return not found["gap"] and text[found.start("sign") - 1].isalnum()


def _talk(line: str, text: str) -> Line:
    """A heading that is no severity, or prose."""
    sign = _FIRST_SIGN.search(text)
    if sign is not None and bare_words(text[: sign.start()]) in AMBIGUOUS and bare_words(text[sign.end() :]):
        return Line("prose", problem="it does not say which severity it means")
    before, colon, after = text.partition(":")
    if colon and len(before) <= 40 and bare_words(after).rstrip(".!。") in NO_ERRORS:
        return PROSE if is_remark(before) else UNKNOWN
    few = len(text) <= 60 and len(text.split()) <= 4
    titled = line.lstrip().startswith("#") or _BOLD_HEADING.fullmatch(line) is not None
    if few and (titled or _COLON_HEADING.fullmatch(text) is not None):
        return Line("remark") if is_remark(text) else UNKNOWN
    return PROSE
