"""JSON objects in an answer: one at the top level, strictly read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from metrics.judges.reading.echoes import Given
from metrics.judges.reading.reasons import ECHO, NotUnderstoodError

_BEGIN = re.compile(r"\{\s*[\"}]")
_MOST_TRIED = 64


class _Placed(NamedTuple):
    value: dict[str, Any]
    start: int
    end: int


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len({key.casefold() for key in made}) != len(pairs):
        raise NotUnderstoodError("a JSON object names a key twice")
    return made


def _refused(name: str) -> None:
    raise NotUnderstoodError(f"{name} is not JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refused)
_LENIENT = json.JSONDecoder()


def begins_object(text: str) -> bool:
    """Whether something in the text begins like a JSON object."""
    return _BEGIN.search(text) is not None


class Own(NamedTuple):
    """The object of an answer, ``None`` where it holds none, and the text before and behind it."""

    value: dict[str, Any] | None
    before: str
    after: str = ""


def own_object(answer: str, given: Given) -> Own:
    """The one top-level object that the answer holds; those that stand in a given text are set aside.

    Raises ``NotUnderstoodError`` for broken JSON, for several objects, and for one in a list.
    """
    found = _all_objects(answer)
    known = {
        _canonical(inner)
        for text in given.texts
        if "{" in text
        for value in _known_objects(text)
        for inner in _objects_inside(value)
    }
    own = [
        placed
        for placed in found
        if not (known and _canonical(placed.value) in known)
        and not given.hold_inside(answer[placed.start : placed.end])
    ]
    if len(own) > 1:
        raise NotUnderstoodError("more than one JSON object")
    if not own:
        rest = _without(answer, found, 0, len(answer))
        if found and not rest.strip(" \r\n\t`"):
            raise NotUnderstoodError(ECHO)
        return Own(None, rest)
    placed = own[0]
    before, after = answer[: placed.start].rstrip(), answer[placed.end :].lstrip()
    rest = _without(answer, found, placed.end, len(answer))
    if before[-1:] in ("[", ",") or after[:1] in ("]", ",") or "}" in rest:
        # A bracket behind it may be what is left where a quoted text closed the object too early.
        raise NotUnderstoodError("the JSON object is part of something else")
    if _unescaped(answer[placed.start : placed.end], given.texts):
        raise NotUnderstoodError("the JSON object holds a text whose quotes are not escaped")
    return Own(placed.value, _without(answer, found, 0, placed.start), rest)


def _without(answer: str, objects: Sequence[_Placed], start: int, end: int) -> str:
    """What stands there apart from objects."""
    parts, at = [], start
    for placed in objects:
        if start <= placed.start < end:
            parts.append(answer[at : placed.start])
            at = placed.end
    return "\n".join([*parts, answer[at:end]])


def _unescaped(source: str, texts: Sequence[str]) -> bool:
    """Whether quotes of a text are those of the object: what stands between them would be its parts."""
    for text in texts:
        first, last = text.find('"'), text.rfind('"')
        between = text[first : last + 1]
        if last > first and any(sign in between for sign in "{}[]:,") and between in source:
            return True
    return False


def _all_objects(answer: str) -> list[_Placed]:
    found: list[_Placed] = []
    begin = _BEGIN.search(answer)
    while begin is not None:
        try:
            value, end = _STRICT.raw_decode(answer, begin.start())
        except (ValueError, RecursionError) as error:
            # What follows may be the inside of this one: nothing in it is at the top level.
            said = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
            raise NotUnderstoodError(f"broken JSON: {said}") from error
        found.append(_Placed(value, begin.start(), end))
        begin = _BEGIN.search(answer, end)
    return found


def _known_objects(text: str) -> list[Any]:
    found: list[Any] = []
    begin = _BEGIN.search(text)
    for _ in range(_MOST_TRIED):
        if begin is None:
            break
        try:
            value, end = _LENIENT.raw_decode(text, begin.start())
            found.append(value)
        except (ValueError, RecursionError):
            end = begin.start() + 1
        begin = _BEGIN.search(text, end)
    return found


def _objects_inside(value: Any) -> Iterator[dict[str, Any]]:
    """The objects that a JSON value is or holds."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _canonical(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True).casefold()
    except RecursionError:
        raise NotUnderstoodError("JSON nested too deeply") from None
