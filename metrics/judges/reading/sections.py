"""Errors under headings of severity: the text form of MQM, and the first half of that of ESA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from challenge_sets import MarkedError
from challenge_sets.records import Severity
from metrics.judges.forms import Form, Judged
from metrics.judges.reading.denials import no_quote
from metrics.judges.reading.dress import plain
from metrics.judges.reading.echoes import Given
from metrics.judges.reading.lines import Line, read_line
from metrics.judges.reading.locating import Marker
from metrics.judges.reading.overlooked import Counted, Heard, announces, overlooked
from metrics.judges.reading.quotes import read_quote
from metrics.judges.reading.reasons import (
    ECHO,
    NO_HEADING,
    REFUSAL,
    NotUnderstoodError,
    OverlookedError,
)
from metrics.judges.reading.reservations import refuses, reserved
from metrics.judges.reading.vocabulary import SEVERITIES, classes_of
from metrics.judges.reading.wording import further_error

_FAR = 300
_LONGEST_AFTER = 2000


class _Error(NamedTuple):
    """An error as its line words it; ``said`` is the line without what follows the quote."""

    line: str
    said: str
    severity: Severity
    category: str
    quote: str | None


def _counted(error: _Error) -> Counted:
    return Counted(error.severity, error.category, error.quote)


@dataclass(slots=True)
class _Section:
    """What stands under one severity, wherever: lines may bear their severity themselves."""

    heading: str | None = None
    error_on_heading: bool = False
    no_error: str | None = None
    errors: int = 0

    def stands_in(self, given: Given) -> bool:
        """Whether a given text has this heading followed by this no-error."""
        heading, no_error = self.heading or "", self.no_error or ""
        return given.hold(heading if heading is no_error else f"{heading} {no_error}", loosely=True)


@dataclass(slots=True)
class _Sections:
    """The sections as far as they are read."""

    marker: Marker
    classes: tuple[str, ...]
    by_severity: dict[Severity, _Section] = field(default_factory=dict)
    errors: list[_Error] = field(default_factory=list)
    current: Severity | None = None
    astray: str = ""
    """A heading that is no severity and stands in charge of what follows."""
    unclosed: bool = False
    """The last error's quote has no end, and nothing has followed it."""
    heard: list[Heard] = field(default_factory=list)
    """The prose."""
    item: str = ""
    """The last line of the current section that is an error or no-error."""
    below_error: bool = False
    announced: bool = False
    gap: bool = False
    """What stands right above: an error, an announcement of remarks, a blank line."""

    def section(self, severity: Severity) -> _Section:
        return self.by_severity.setdefault(severity, _Section())

    def add(self, line: str, read: Line) -> None:
        if read.kind == "blank":
            self.gap = True
            return
        self.unclosed = False
        if read.kind in ("ambiguous", "unclear"):
            raise OverlookedError(read.problem)
        if read.kind == "heading" and read.severity is not None:
            self._open(line, read.severity, read.content)
            if read.content is not None and read.content.kind == "prose":
                self._hear(line, read.content.problem, beside=True)
            elif read.content is not None:
                self.add(line, read.content)
        elif read.kind == "prose":
            self._hear(line, read.problem)
        elif read.kind == "error":
            self._add_error(line, read)
        elif read.kind == "no_error":
            self._add_no_error(line, read)
        elif read.kind == "unknown" and self.by_severity:
            raise NotUnderstoodError(f"{line.strip()[:60]!r} looks like a heading and is none that is known")
        elif read.kind in ("unknown", "remark"):
            self.astray = line.strip()[:60]

    def _hear(self, line: str, problem: str, *, beside: bool = False) -> None:
        above = self.errors[-1] if self.below_error else None
        self.heard.append(
            Heard(
                line,
                self.current if above is None else above.severity,
                self.item,
                None if above is None else _counted(above),
                bool(self.astray),
                self.announced,
                self.gap,
                beside,
                problem,
            )
        )
        self.announced = self.announced or announces(line, self.classes)

    def _at(self, item: str, *, error: bool = False) -> None:
        """Prose that follows stands below this line."""
        self.item, self.below_error, self.announced, self.gap = item, error, False, False

    def _open(self, line: str, severity: Severity, content: Line | None) -> None:
        section = self.section(severity)
        with_error = content is not None and content.kind == "error"
        if section.heading is not None and not (with_error and section.error_on_heading):
            raise NotUnderstoodError(f"the heading {severity} stands twice")
        section.heading, section.error_on_heading = line, with_error
        self.current, self.astray = severity, ""
        self._at("")

    def _add_error(self, line: str, read: Line) -> None:
        if self.astray:
            raise NotUnderstoodError(f"an error under {self.astray!r}, which is no severity")
        severity = read.severity or self.current
        if severity is None:
            raise NotUnderstoodError("an error without a severity")
        if read.severity and self.current and read.severity != self.current:
            raise NotUnderstoodError(f"an error called {read.severity} under the heading {self.current}")
        quote, after = None, ""
        if read.quoted is not None:
            quote, after = self._quote(read.quoted, severity)
            if problem := no_quote(read.category, quote, after, self.marker):
                raise OverlookedError(problem)
        self.section(severity).errors += 1
        said = line[: len(line) - len(after)] if after and line.endswith(after) else line
        self.errors.append(_Error(line, said, severity, read.category, quote))
        self._at(line, error=True)

    def _quote(self, quoted: str, severity: Severity) -> tuple[str | None, str]:
        """What is quoted, and the text after it."""
        read = read_quote(quoted, self.marker.holds)
        if not read.closed:
            if classes_of(self.classes).spelled_in(read.text) and not self.marker.holds(read.text):
                raise OverlookedError("another class in a quote that does not end")
            self.unclosed = True
            return read.text.rstrip() or None, ""
        after = plain(read.after[:_FAR]).strip(" \t*_.,;:-–—()[]")
        severity_after = SEVERITIES.get(" ".join(after.split()).casefold())
        if severity_after not in (None, severity):
            raise NotUnderstoodError(f"an error called {severity_after} where {severity} is said before it")
        if after and further_error(plain(read.after[:_LONGEST_AFTER]), classes_of(self.classes)):
            raise OverlookedError("two errors on one line")
        return read.text or None, read.after

    def _add_no_error(self, line: str, read: Line) -> None:
        if self.current is None and self.astray:
            raise NotUnderstoodError(f"no-error under {self.astray!r}, which is no severity that is known")
        if self.current is None or self.astray:
            return
        if read.severity not in (None, self.current):
            raise NotUnderstoodError(f"no {read.severity} error under the heading {self.current}")
        self.section(self.current).no_error = line
        self._at(line)


def read_sections(
    lines: list[str], form: Form, judged: Judged, given: Given, last: str, scores: Sequence[str] = ()
) -> tuple[MarkedError, ...]:
    """The errors of an annotation, located in the texts.

    ``last`` is the last line of the whole answer, ``scores`` are lines with a score beside the annotation.
    Raises ``NotUnderstoodError`` where the lines are none in form, where what they say stands in one of the
    texts that the judge was given, and where prose among them names an error that is not listed.
    """
    marker = Marker(judged)
    sections = _Sections(marker, form.classes)
    for line in lines:
        sections.add(line, read_line(line, form.classes))
    if sections.unclosed and sections.errors[-1].line == last:
        raise NotUnderstoodError("the last line is an error whose quote does not end: the answer may be cut")
    _check(sections, form)
    _refuse_echo(sections, given)
    for prose in sections.heard:
        _refuse_reserved(prose.line, not sections.errors)
    heard = [*sections.heard, *(Heard(line, form.severities[0], remark=True) for line in scores)]
    if heard:
        _refuse_overlooked(heard, list(map(_counted, sections.errors)), form, marker)
    return tuple(marker.error(error.severity, error.category, error.quote) for error in sections.errors)


def _check(sections: _Sections, form: Form) -> None:
    if not sections.by_severity:
        raise NotUnderstoodError(NO_HEADING)
    for severity, section in sections.by_severity.items():
        if section.no_error is not None and section.errors:
            raise NotUnderstoodError(f"errors and no-error under the heading {severity}")
        if section.no_error is None and not section.errors:
            raise NotUnderstoodError(f"neither an error nor no-error under the heading {severity}")
        if section.errors and severity not in form.severities:
            raise NotUnderstoodError(f"{severity} errors were not asked for")
    if not sections.errors:
        missing = [severity for severity in form.severities if severity not in sections.by_severity]
        if missing:
            raise NotUnderstoodError(f"no error anywhere, but nothing is said of {', '.join(missing)}")


def _refuse_echo(sections: _Sections, given: Given) -> None:
    """What decides the verdict must be the judge's own: its errors, or that there are none."""
    for error in sections.errors:
        if error.quote is None:
            repeated = given.hold_lines([error.said])
        else:
            repeated = given.hold(error.said) or given.hold_error(error.category, error.quote)
        if repeated:
            raise NotUnderstoodError(ECHO)
    if not sections.errors:
        # One heading with its no-error may stand in a text by chance, such as the messages of a program.
        held = sum(
            severity in given.denied or section.stands_in(given)
            for severity, section in sections.by_severity.items()
        )
        if held >= min(2, len(sections.by_severity)):
            raise NotUnderstoodError(ECHO)


def _refuse_reserved(line: str, clean: bool) -> None:
    """Raises ``NotUnderstoodError`` where prose says that the annotation beside it is not meant.

    Explanations of errors suppose and correct things; where there is none, nothing else may be said to be so.
    """
    if refuses(line):
        raise OverlookedError(REFUSAL)
    if clean and (problem := reserved(line)):
        raise OverlookedError(f"{line.strip()[:60]!r} beside no-error: {problem}")


def refuse_overlooked(
    before: Sequence[str], after: Sequence[str], errors: Sequence[MarkedError], form: Form, judged: Judged
) -> None:
    """Raises ``NotUnderstoodError`` where the lines around a JSON object name an error that is not in it."""
    marker = Marker(judged)
    counted = [Counted(error.severity, error.category, error.quote) for error in errors]
    heard: list[Heard] = []
    listed = 0
    for lines, section in ((before, None), (after, form.severities[0])):
        for line in lines:
            read = read_line(line, form.classes)
            own = read.content or read
            listed += own.kind == "error"
            if own.kind == "prose":
                _refuse_reserved(line, not errors)
            if own.kind in ("prose", "unclear"):
                heard.append(
                    Heard(line, section, gap=True, beside=read.content is not None, problem=own.problem)
                )
    if listed > len(errors):
        raise OverlookedError("an error beside the JSON object")
    _refuse_overlooked(heard, counted, form, marker)


def _refuse_overlooked(
    heard: Sequence[Heard], counted: Sequence[Counted], form: Form, marker: Marker
) -> None:
    if problem := overlooked(heard, counted, form.classes, marker):
        raise OverlookedError(problem)
