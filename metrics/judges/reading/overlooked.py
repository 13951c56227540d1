"""Errors that an answer names in another shape than it was asked for: none may be lost without a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from challenge_sets.records import Severity
from metrics.judges.reading.locating import Marker
from metrics.judges.reading.talk import Signs, mark_of, signs_of

_SHOWN = 60


class Counted(NamedTuple):
    """An error that was read."""

    severity: Severity
    category: str | None
    quote: str | None


class Heard(NamedTuple):
    """A line of prose, and where it stands.

    ``section``: the severity whose heading is in charge, ``None`` before the first. ``item``: the last line
    of that section that is an error or no-error, ``above``: the error right above. ``remark``: below a
    heading that announces a remark; ``announced``: below a line that does. ``gap``: behind a blank line.
    ``beside``: on the line of a heading. ``problem``: why it may be an error, whatever stands around it.
    """

    line: str
    section: Severity | None = None
    item: str = ""
    above: Counted | None = None
    remark: bool = False
    announced: bool = False
    gap: bool = False
    beside: bool = False
    problem: str = ""


def announces(line: str, classes: tuple[str, ...]) -> bool:
    """Whether a line of prose announces remarks as a list."""
    return signs_of(line, classes).intro


def overlooked(
    heard: Sequence[Heard],
    errors: Sequence[Counted],
    classes: tuple[str, ...],
    marker: Marker,
) -> str:
    """Why some line of prose may name an error that is not among those read; empty where none does.

    Explanations of errors that were read, and remarks that find nothing wrong, are passed over. ``marker``
    tells a quote of the translation from one of another text.
    """
    for line in heard:
        signs = signs_of(line.line, classes)
        why = line.problem or _named(line, signs, _Around(signs, errors, marker, line.above))
        if why:
            return f"{line.line.strip()[:_SHOWN]!r}: {why}"
    return ""


class _Around:
    """What a line has to do with the errors that were read.

    ``explained``: it speaks of one of them. ``foreign``: it quotes what is neither theirs nor only another
    text's; ``other``: it quotes other words of the translation. ``bare``: it is such words, without marks.
    """

    def __init__(
        self,
        signs: Signs,
        errors: Sequence[Counted],
        marker: Marker,
        above: Counted | None,
    ) -> None:
        self.clean = not errors
        self.severities = {error.severity for error in errors}
        self.classes = {error.category for error in errors}
        known = [_key(error.quote) for error in errors if error.quote]
        said = [_key(quote) for quote in signs.said.quotes]
        near = [quote for quote in said if any(quote in other or other in quote for other in known)]
        before = _key(signs.before_sign)
        self.explained = bool(near) or before in known or (above is not None and not above.quote)
        self.foreign = any(
            key not in near and not marker.only_given(quote)
            for key, quote in zip(said, signs.said.quotes, strict=True)
        )
        self.other = not signs.said.praise and any(
            key not in near and marker.holds_part(quote)
            for key, quote in zip(said, signs.said.quotes, strict=True)
        )
        self.bare = any(
            marker.holds_part(words)
            and not any(_key(words) in other or other in _key(words) for other in known)
            for words in signs.bare
        )


def _key(quote: str) -> str:
    return " ".join(quote.split()).casefold()


def _named(heard: Heard, signs: Signs, around: _Around) -> str:
    """What a line names, empty for nothing."""
    if signs.foreign:
        return "part of another form than that asked for"
    if signs.front and not (heard.remark and signs.front in around.classes):
        return f"it begins with the class {signs.front} and is no error in form"
    if heard.section is None:
        return _in_front(heard, signs, around)
    if heard.beside:
        return "neither an error nor no-error beside a heading"
    marked = signs.severity
    at_home = marked == heard.section and heard.above is not None and not around.foreign
    if marked is not None and not (at_home and not mark_of(heard.line).listed):
        return f"it is called {marked} and is no error in form"
    if signs.begins_severe and around.foreign:
        return "it begins with a severity and quotes, and is no error in form"
    unknown = set(signs.classes) - around.classes
    if unknown:
        return f"it names the class {min(unknown)}"
    for severity in sorted(signs.said.severities):
        if severity not in around.severities or signs.said.further:
            return f"it speaks of a {severity} error that is not listed"
    if around.clean and (problem := _finds_fault(signs)):
        return problem
    if around.bare and not heard.remark and not signs.label:
        return "it quotes the translation and is no error in form"
    return "" if heard.remark else _in_section(heard, signs, around)


def _in_front(heard: Heard, signs: Signs, around: _Around) -> str:
    """Before the first heading, judges think aloud: what they then list counts."""
    if not (around.clean and signs.said.quotes):
        return ""
    if signs.said.severities or signs.severity or (signs.said.fault and mark_of(heard.line).listed):
        return "it names an error, and none is listed"
    return ""


def _finds_fault(signs: Signs) -> str:
    if signs.said.fault or signs.corrects:
        return "it finds fault, and no error is listed"
    if signs.said.excepted:
        return "it makes an exception from there being no error"
    if signs.called or ((signs.said.quotes or signs.begins_severe) and not signs.said.praise):
        return "it may name an error, and none is listed"
    return ""


def _in_section(heard: Heard, signs: Signs, around: _Around) -> str:
    mark = mark_of(heard.line)
    item = mark_of(heard.item) if heard.item else None
    one_of_them = mark.listed and item is not None and item.listed and mark.depth <= item.depth
    if one_of_them and not heard.announced and not (signs.label and (heard.above or not signs.said.fault)):
        return "an item of the list that is neither an error nor no-error"
    if signs.said.fault and signs.said.further and not around.explained:
        return "it says that more is wrong"
    if heard.above is not None:
        part = signs.part and signs.part != heard.above.category
        apart = around.foreign and not around.explained and not signs.label
        named = signs.said.fault or signs.shaped or signs.called or signs.said.further or around.other
        if (part and not signs.label) or (apart and named):
            return "it names an error, and is none in form"
        return ""
    if around.explained:
        return ""
    if mark.listed and around.foreign:
        return "an item with a quote that is no error in form"
    if signs.part or signs.called or (around.foreign and (signs.said.fault or signs.shaped or around.other)):
        return "it names an error, and is none in form"
    if signs.said.fault and not heard.gap:
        return "it finds fault where no error is listed"
    return ""
