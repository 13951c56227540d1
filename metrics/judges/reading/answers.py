"""An answer of a judge, in the form that its prompt asked for."""

from __future__ import annotations

from collections.abc import Callable

from metrics.judges.forms import Form, Judged, Verdict
from metrics.judges.reading.dress import split_lines, without_reasoning
from metrics.judges.reading.echoes import Given
from metrics.judges.reading.forged import MOST_SCORES
from metrics.judges.reading.labels import labels_in, take_labels
from metrics.judges.reading.lines import read_line
from metrics.judges.reading.logical_lines import logical_lines
from metrics.judges.reading.objects import begins_object, own_object
from metrics.judges.reading.prose import refuse_reserved
from metrics.judges.reading.reasons import (
    ECHO,
    EMPTY,
    JSON_FOR_TEXT,
    NO_HEADING,
    NO_NUMBER,
    NUMBER_ONLY,
    REFUSAL,
    TWO_ENDS,
    NotUnderstoodError,
    OverlookedError,
    is_refusal,
)
from metrics.judges.reading.scores import (
    bare_number,
    is_label_alone,
    labelled_number,
    one_score,
    read_number,
    take_labelled,
)
from metrics.judges.reading.sections import read_sections, refuse_overlooked
from metrics.judges.reading.structured import errors_in, score_in


def read_answer(answer: str, form: Form, judged: Judged) -> Verdict:
    """What a complete answer says, in the form that was asked for; never raises for any text.

    An answer that is not in form is not understood, and its verdict says why: nothing is guessed. Formatting
    does not matter (reasoning before the answer, blocks of code, bold type, bullets, full-width characters,
    letter case, languages of headings). What the answer repeats from the texts that it is about is no
    judgement. A line is one error: its span is the first quote on it, as far as the translation holds it.
    """
    given = Given(judged)
    try:
        own = without_reasoning(answer, given.texts)
        if not own.strip(" \t\r\n`\ufeff"):
            raise NotUnderstoodError(EMPTY)
        return _read(own, form, judged, given)
    except NotUnderstoodError as error:
        return Verdict(reason=error.reason)


def _read(answer: str, form: Form, judged: Judged, given: Given) -> Verdict:
    if form.json or (form.kind == "number" and begins_object(answer)):
        verdict, rest = _read_object(answer, form, judged, given)
        if verdict is not None:
            return verdict
        if form.json:
            raise NotUnderstoodError(_without_form(answer, "no JSON object", form, given))
        answer = rest
    if form.kind == "number" or not given.several_lines:
        return _read_lines(split_lines(answer), answer, form, judged, given)
    lines, doubtful = logical_lines(answer, given.several_lines)
    verdict = _read_lines(lines, answer, form, judged, given)
    if doubtful:
        try:
            other = _read_lines(split_lines(answer), answer, form, judged, given)
        except OverlookedError:
            raise NotUnderstoodError(TWO_ENDS) from None
        except NotUnderstoodError as error:
            # Read line by line it is in form, if not the judge's own.
            if error.reason == ECHO:
                raise NotUnderstoodError(TWO_ENDS) from None
            return verdict
        if other != verdict:
            raise NotUnderstoodError(TWO_ENDS)
    return verdict


def _read_lines(lines: list[str], answer: str, form: Form, judged: Judged, given: Given) -> Verdict:
    """What the lines of an answer say; what they repeat of the texts is set aside where it is in the way."""
    read, is_item = _readers(form, judged, given)
    parts = given.parts_apart(lines)
    try:
        if form.kind == "number" and parts is not None:
            # A number is easily forged by a line alone: what is repeated goes before anything is read.
            raise NotUnderstoodError(ECHO)
        return read(lines)
    except NotUnderstoodError as error:
        if parts is None:
            if isinstance(error, OverlookedError):
                raise
            raise NotUnderstoodError(_without_form(answer, error.reason, form, given)) from error
        own = [part for part in parts if any(map(is_item, part))]
        if len(own) != 1:
            raise NotUnderstoodError(error.reason if own else ECHO) from error
        # Remarks may stand apart from the judgement and name an error, other numbers are not the score.
        return read(own[0] if form.kind == "number" else [line for part in parts for line in part])


def _read_object(answer: str, form: Form, judged: Judged, given: Given) -> tuple[Verdict | None, str]:
    """What an object in the answer says, and the text around it; ``None`` where there is none of its own."""
    value, before, after = own_object(answer, given)
    rest = f"{before}\n{after}"
    if value is None:
        return None, rest
    labels = labels_in(value, form.labels)
    errors = None
    if form.kind != "number":
        errors = errors_in(value, form, judged, given)
        refuse_overlooked(split_lines(before), split_lines(after), errors, form, judged)
    number = None if form.kind == "mqm" else score_in(value, form)
    if form.kind != "mqm" and (number in given.keyed_scores or len(given.keyed_scores) > MOST_SCORES):
        raise NotUnderstoodError(ECHO)
    if form.kind == "number":
        prose, labelled = take_labelled(split_lines(rest), form)
        refuse_reserved(prose, form, given)
        if any(found.value != number for found in labelled):
            raise NotUnderstoodError("a score besides that of the JSON object")
    return Verdict(number, errors, labels), rest


def _readers(
    form: Form, judged: Judged, given: Given
) -> tuple[Callable[[list[str]], Verdict], Callable[[str], bool]]:
    """What reads the lines of a text, and what tells a line that judges from talk."""

    def is_item(line: str) -> bool:
        if form.kind != "mqm" and (labelled_number(line, form) is not None or is_label_alone(line)):
            return True
        if form.kind == "number":
            return bare_number(line, form) is not None
        return read_line(line, form.classes).kind in ("heading", "error", "no_error")

    def read(lines: list[str]) -> Verdict:
        last = next((line for line in reversed(lines) if line.strip()), "")
        lines, labels = take_labels(lines, form.labels, given)
        if form.kind == "number":
            return Verdict(read_number(lines, form, given), None, labels)
        if form.kind == "mqm":
            return Verdict(None, read_sections(lines, form, judged, given, last), labels)
        lines, scores = take_labelled(lines, form)
        errors = read_sections(lines, form, judged, given, last, [score.line for score in scores])
        if not scores:
            raise NotUnderstoodError("errors without a score")
        # A quote in an error may hold anything.
        prose = [line for line in lines if not is_item(line)]
        refuse_reserved(prose, form, given, strictly=False)
        return Verdict(one_score(scores, given, form), errors, labels)

    return read, is_item


def _without_form(answer: str, reason: str, form: Form, given: Given) -> str:
    """A better reason for an answer that holds nothing of its form."""
    if reason not in (NO_HEADING, NO_NUMBER, "no JSON object"):
        return reason
    if form.kind != "number" and bare_number(answer.strip(), form) is not None:
        return NUMBER_ONLY
    if not form.json and begins_object(answer):
        return JSON_FOR_TEXT
    if any(map(str.isalpha, answer)) and given.hold(answer):
        return ECHO
    return REFUSAL if is_refusal(answer) else reason
