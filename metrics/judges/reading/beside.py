"""What a JSON object says of errors beside the list of them: flags, counts, other lists, remarks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from challenge_sets.records import Severity
from metrics.judges.reading.dress import plain
from metrics.judges.reading.echoes import Given
from metrics.judges.reading.faults import said_in
from metrics.judges.reading.labels import squeezed
from metrics.judges.reading.lines import bare_words, severity_of
from metrics.judges.reading.reasons import NotUnderstoodError, OverlookedError
from metrics.judges.reading.vocabulary import NO_ERRORS

Placed = tuple[Severity, Mapping[str, Any]]
"""An error of an object, with the severity that it has or stands under."""

_THINGS = r"(?:errors?|issues?|mistakes?)"
_NONE = re.compile(
    rf"(?:has|have|is|are|contains|thereis|thereare)?no{_THINGS}(?:found)?|(?:is)?(?:errorfree|perfect)"
)
_SOME = re.compile(rf"(?:has|have|contains)(?:any)?{_THINGS}|(?:any)?{_THINGS}found")
_RIGHT = frozenset({"correct", "iscorrect", "accurate", "isaccurate"})
_COUNT_WORDS = rf"num|number|of|total|n|all|counts?|found|list|{_THINGS}"
_COUNT = re.compile(rf"(?:{_COUNT_WORDS})*{_THINGS}(?:{_COUNT_WORDS})*")
_SEVERITY = re.compile(rf"(?:{_COUNT_WORDS})*(critical|major|minor)(?:{_COUNT_WORDS})*")
_LISTED = re.compile(rf"{_THINGS}|annotation|problem|flaw|defect|finding|fehler|spans?$")
_OF_AN_ERROR = frozenset(
    map(squeezed, ("severity", "span", "target_span", "target_span_text", "quote", "class"))
)
_DEEPEST = 20


def named_severity(said: str) -> Severity | None:
    """The severity that a key or a value names."""
    return severity_of(bare_words(plain(said.replace("_", " "))))


def says_none(said: str) -> bool:
    """Whether a text only says that there is no error."""
    return bare_words(plain(said)).rstrip(".!;,。").rstrip() in NO_ERRORS


def refuse_contradiction(
    value: Mapping[str, Any], read: str | None, errors: Sequence[Placed], given: Given, labels: Iterable[str]
) -> None:
    """Raises ``NotUnderstoodError`` where an object says of errors what those read from it do not.

    ``read`` is the key that held them, ``None`` where they stand under severities. Keys of ``labels`` and
    texts that the judge was given say nothing of errors.
    """
    known = _Known(errors)
    apart = {squeezed(label) for label in labels}
    for key, said in _beside(value, read, apart):
        problem = known.contradicted_by(key, said) or _remark(said, known, given)
        if problem:
            raise OverlookedError(f"{key!r} beside the errors: {problem}")


def _beside(value: Mapping[str, Any], read: str | None, apart: set[str]) -> Iterator[tuple[str, Any]]:
    """All keys and their values, at any depth, what the errors were read from and labels apart."""
    waiting: list[tuple[Any, int]] = [
        ({key: said}, 0)
        for key, said in value.items()
        if key != read and (read is not None or named_severity(key) is None)
    ]
    while waiting:
        level, depth = waiting.pop()
        if depth > _DEEPEST:
            raise NotUnderstoodError("JSON nested too deeply")
        if isinstance(level, list):
            waiting += [(inner, depth + 1) for inner in level if isinstance(inner, list | dict)]
            continue
        for key, said in level.items():
            if squeezed(key) not in apart:
                yield key, said
                if isinstance(said, list | dict):
                    waiting.append((said, depth + 1))


def _remark(said: Any, known: _Known, given: Given) -> str:
    """What a text, or one in a list, says of errors that were not read."""
    for text in said if isinstance(said, list) else [said]:
        if not isinstance(text, str) or not text.strip() or given.hold(text):
            continue
        speaks = said_in(plain(text))
        unknown = speaks.severities - known.severities
        if unknown:
            return f"it speaks of a {min(unknown)} error that is not listed"
        if not known.errors and (speaks.fault or speaks.excepted):
            return "it finds fault, and no error is listed"
    return ""


class _Known:
    """The errors that were read, to compare with what else is said."""

    def __init__(self, errors: Sequence[Placed]) -> None:
        self.errors = errors
        self.severities = {severity for severity, _ in errors}
        self._texts = {_key(text) for _, error in errors for text in error.values() if isinstance(text, str)}

    def contradicted_by(self, key: str, said: Any) -> str:
        """What a key says of errors that these do not; empty for nothing."""
        if said is None:
            return ""
        name = squeezed(key)
        count = len(self.errors)
        differs = f"it is {str(said)[:40]}, with {count} errors"
        if _NONE.fullmatch(name):
            return "" if said is (count == 0) else differs
        if _SOME.fullmatch(name) and isinstance(said, bool | str):
            return "" if said is (count > 0) else differs
        if name in _RIGHT:
            return differs if said is False and count == 0 else ""
        severity = _SEVERITY.fullmatch(name)
        if severity is not None or named_severity(key) is not None:
            return self._differs(severity[1] if severity else named_severity(key), said)
        if isinstance(said, int | float) and _COUNT.fullmatch(name):
            return "" if said == count else differs
        if name == "severity" and isinstance(said, str):
            unknown = named_severity(said) not in {None, *self.severities}
            return "a severity of which no error is listed" if unknown else ""
        listed = _LISTED.search(name) is not None
        return "other errors than those listed" if self._others(said, self.errors, listed) else ""

    def _differs(self, severity: Any, said: Any) -> str:
        """Whether what stands under a severity is something else than its errors."""
        here = [error for error in self.errors if error[0] == severity]
        if isinstance(said, int | float):
            same = said == len(here) or (said is True and here)
        elif isinstance(said, list):
            same = len(said) == len(here) and not self._others(said, here, listed=True)
        else:
            same = bool(here) or _is_empty(said)
        return "" if same else f"other {severity} errors than those listed"

    def _others(self, said: Any, errors: Sequence[Placed], listed: bool) -> bool:
        """Whether a value holds errors beside these; ``listed``: its key says that it holds some."""
        if isinstance(said, list):
            return any(self._is_other(one, errors, listed) for one in said)
        if not listed or isinstance(said, int | float):
            return False
        return not self.errors and not _is_empty(said)

    def _is_other(self, one: Any, errors: Sequence[Placed], listed: bool) -> bool:
        if isinstance(one, dict):
            if not listed and not any(squeezed(key) in _OF_AN_ERROR for key in one):
                return False
            return not any(
                _plain(one) in (_plain(error), _plain({**error, "severity": None})) for _, error in errors
            )
        if not listed or not isinstance(one, str):
            return False
        return not says_none(one) and _key(one) not in self._texts


def _plain(error: Mapping[str, Any]) -> dict[str, Any]:
    return {key: said for key, said in error.items() if said is not None}


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_empty(said: Any) -> bool:
    """Whether a value says nothing, or that there is nothing."""
    if isinstance(said, str):
        return not said.strip() or says_none(said)
    if isinstance(said, dict):
        return all(map(_is_empty, said.values()))
    if isinstance(said, list):
        return all(map(_is_empty, said))
    return not said
