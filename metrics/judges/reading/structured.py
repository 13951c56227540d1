"""Judgements given as JSON: errors in a list or under severities, a score under its name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from challenge_sets import MarkedError
from challenge_sets.records import Severity
from metrics.judges.forms import Form, Judged
from metrics.judges.reading.beside import Placed, named_severity, refuse_contradiction, says_none
from metrics.judges.reading.echoes import Given
from metrics.judges.reading.labels import squeezed
from metrics.judges.reading.locating import Marker
from metrics.judges.reading.reasons import REFUSAL, NotUnderstoodError
from metrics.judges.reading.reservations import refuses
from metrics.judges.reading.scores import bare_number, out_of_range
from metrics.judges.reading.vocabulary import classes_of

_CLASS_KEYS = ("class", "category", "type")
_SPAN_KEYS = ("span", "target_span_text", "target_span", "text", "quote")
_SOURCE_KEYS = ("source_span_text", "source_span")
_FAILURES = frozenset({"refusal", "refused", "refuse", "error", "failure", "failed"})
_SCALE_KEYS = frozenset(
    map(squeezed, ("scale", "range", "max", "min", "maximum", "minimum", "out_of", "max_score", "min_score"))
)
_SCORE_KEYS = frozenset(
    squeezed(key)
    for key in (
        "score",
        "rating",
        "quality",
        "final_score",
        "overall_score",
        "quality_score",
        "quality_rating",
    )
) | {"punktzahl", "bewertung", "分数", "得分", "评分", "スコア", "点数", "점수"}


def errors_in(value: Mapping[str, Any], form: Form, judged: Judged, given: Given) -> tuple[MarkedError, ...]:
    """The errors of an object: ``errors`` as a list or by severity, or lists under the severities themselves.

    Raises ``NotUnderstoodError`` where a severity is unknown, a value has another type, ``errors`` is missing
    or named twice, and where the rest of the object speaks of other errors or of none.
    """
    names = [key for key in value if squeezed(key) == "errors"]
    if len(names) > 1:
        raise NotUnderstoodError("a JSON object names its errors twice")
    refuse_refusal(value)
    read = names[0] if names else None
    found = list(_listed(value, read, form))
    refuse_contradiction(value, read, found, given, form.labels)
    marker = Marker(judged)
    return tuple(_marked(severity, error, form, marker) for severity, error in found)


def _listed(value: Mapping[str, Any], read: str | None, form: Form) -> Iterator[Placed]:
    if read is not None:
        errors = value[read]
        if isinstance(errors, list):
            for error in errors:
                yield _severity(_object(error), form), error
            return
        if not isinstance(errors, dict):
            raise NotUnderstoodError("'errors' is neither a list nor an object")
        if not errors:
            raise NotUnderstoodError("'errors' is an object that names no severity")
        if any(named_severity(key) is None for key in errors):
            raise NotUnderstoodError(f"'errors' names what is no severity: {', '.join(errors)[:60]}")
        value = errors
    by_severity: dict[Severity, Any] = {}
    for key, errors in value.items():
        severity = named_severity(key)
        if severity in by_severity:
            raise NotUnderstoodError(f"two lists of {severity} errors")
        if severity is not None:
            by_severity[severity] = errors
    if not by_severity:
        raise NotUnderstoodError("the JSON object has no 'errors'")
    yield from _by_severity(by_severity, form)


def _by_severity(lists: Mapping[Severity, Any], form: Form) -> Iterator[Placed]:
    found = False
    for severity, errors in lists.items():
        if not isinstance(errors, list):
            raise NotUnderstoodError(f"{severity} errors are no list")
        for error in errors:
            found = True
            own = _severity(error, form) if "severity" in _object(error) else severity
            if own != severity or severity not in form.severities:
                raise NotUnderstoodError(f"an error called {own} among the {severity} ones")
            yield severity, error
    if not found and any(severity not in lists for severity in form.severities):
        raise NotUnderstoodError("no error anywhere, but not every severity is named")


def _object(error: Any) -> Mapping[str, Any]:
    if not isinstance(error, dict):
        raise NotUnderstoodError("an error is no object")
    return error


def _severity(error: Mapping[str, Any], form: Form) -> Severity:
    said = error.get("severity")
    severity = named_severity(said) if isinstance(said, str) else None
    if severity not in form.severities:
        raise NotUnderstoodError(f"an error's severity is {str(said)[:40]!r}")
    return severity


def _marked(severity: Severity, error: Mapping[str, Any], form: Form, marker: Marker) -> MarkedError:
    category, span = _text(error, _CLASS_KEYS), _text(error, _SPAN_KEYS)
    source = _text(error, _SOURCE_KEYS)
    if says_none(category or "") or (category is None and says_none(span or "")):
        raise NotUnderstoodError(f"an error called {severity} whose class says that it is none")
    if not any(isinstance(said, str) and said.strip() for key, said in error.items() if key != "severity"):
        raise NotUnderstoodError(f"an error called {severity} of which nothing else is said")
    if category is not None:
        category = classes_of(form.classes).named(category) or category.strip() or None
    return marker.error(severity, category, span, source)


def _text(error: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """The first of these keys that holds a text; one with a value of another type is an error."""
    for key in keys:
        said = error.get(key)
        if said is None or said == "":
            continue
        if not isinstance(said, str):
            raise NotUnderstoodError(f"an error's {key} is no text")
        if any("\ud800" <= character <= "\udfff" for character in said):
            raise NotUnderstoodError(f"an error's {key} holds half a character")
        return said
    return None


def score_in(value: Mapping[str, Any], form: Form) -> float:
    """The score of an object. Raises ``NotUnderstoodError`` for none, two different, one out of range."""
    said = [each for key, each in value.items() if squeezed(key) in _SCORE_KEYS]
    if not said:
        raise NotUnderstoodError("the JSON object has no score")
    numbers = {_number(each, form) for each in said}
    if len(numbers) > 1:
        raise NotUnderstoodError("different scores in the JSON object")
    number = numbers.pop()
    _refuse_beside(value, form)
    return number


def _refuse_beside(value: Mapping[str, Any], form: Form) -> None:
    """Raises ``NotUnderstoodError`` where another key says that the score is none, or on another scale."""
    refuse_refusal(value)
    for key, said in value.items():
        if squeezed(key) not in _SCALE_KEYS:
            continue
        numbers = re.findall(r"\d+(?:[.,]\d+)?", str(said))
        ends = [float(each.replace(",", ".")) for each in numbers]
        wanted = form.minimum if squeezed(key).startswith("min") else form.maximum
        if ends and (ends[-1] != wanted or any(each != form.minimum for each in ends[:-1])):
            raise NotUnderstoodError(f"a score on another scale: {key!r} is {str(said)[:40]}")


def refuse_refusal(value: Mapping[str, Any]) -> None:
    """Raises ``NotUnderstoodError`` where a key or its text says that the object is no judgement."""
    for key, said in value.items():
        # "errors" is a list; one "error" in words is no judgement.
        failed = squeezed(key) in _FAILURES and said not in (None, False, "", 0, [], {})
        if failed or (isinstance(said, str) and refuses(said)):
            raise NotUnderstoodError(REFUSAL)


def _number(said: Any, form: Form) -> float:
    if isinstance(said, str):
        found = bare_number(said, form)
        if found is None or found.value is None or found.problem:
            raise NotUnderstoodError(found.problem if found else f"the score is {said[:40]!r}")
        return found.value
    if not isinstance(said, int | float) or isinstance(said, bool) or not math.isfinite(said):
        raise NotUnderstoodError(f"the score is {str(said)[:40]}")
    # An integer may be too large for a float; the range is checked before it becomes one.
    if problem := out_of_range(said, form) if abs(said) < 1e15 else "a score out of the range":
        raise NotUnderstoodError(problem)
    return float(said)
