"""What one line of an annotation is: a heading, an error, the word that there is none, or talk."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from challenge_sets.records import Severity
from metrics.judges.reading.dress import MARKS, is_fence, plain, prefix_length
from metrics.judges.reading.vocabulary import AMBIGUOUS, NO_ERRORS, SEVERITIES, SEVERITY_NAMES, is_remark
from metrics.judges.reading.wording import Named, named_error

LineKind = Literal[
    "blank", "heading", "no_error", "error", "remark", "unknown", "ambiguous", "unclear", "prose"
]


class Line(NamedTuple):
    """One line. ``severity`` is that of a heading, or the one that an error bears itself.

    ``content`` is what follows a heading on its own line. ``quoted`` is the line from the opening quote on,
    as it was written, ``None`` for an error without a quote. ``problem`` says why a line is ``unclear``.
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
    if words not in NO_ERRORS or named_error(said["remark"], classes) is not None:
        return None
    return (
        None if any(quote in said["remark"] for quote in '"“„«「『') else Line("no_error", NO_ERRORS[words])
    )


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
    separated = found["sign"] or found["close"] or found["gap"]
    if not separated:
        return None
    severity = SEVERITIES[found["name"].casefold()]
    item = _item(text[found.end() :], raw[found.end() :], classes)
    if item is None:
        return Line("heading", severity, content=PROSE) if found["sign"] == ":" else None
    if item.kind == "no_error":
        return Line("heading", severity, content=item) if found["sign"] else None
    if item.kind == "unclear":
        return item
    if item.severity not in (None, severity):
        return Line("unclear", problem="an error bears two severities")
    if found["sign"] == ":" and not found["open"]:
        return Line("heading", severity, content=item)
    return item._replace(severity=severity)


def _talk(line: str, text: str) -> Line:
    """A heading that is no severity, or prose."""
    before, colon, after = text.partition(":")
    if colon and len(before) <= 40 and bare_words(after).rstrip(".!。") in NO_ERRORS:
        return PROSE if is_remark(before) else UNKNOWN
    few = len(text) <= 60 and len(text.split()) <= 4
    titled = line.lstrip().startswith("#") or _BOLD_HEADING.fullmatch(line) is not None
    if few and (titled or _COLON_HEADING.fullmatch(text) is not None):
        return Line("remark") if is_remark(text) else UNKNOWN
    return PROSE
