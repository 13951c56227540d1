"""Labels: lines or keys with a name and one of a few values, such as how a translation used its context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from metrics.judges.reading.dress import plain, prefix_length
from metrics.judges.reading.echoes import Given

_NOT_A_WORD = re.compile(r"[\W_]+")
_END_OF_VALUE = re.compile(r"[(.,;\n]|\s[-–—]\s")
_LONGEST_NAME = 60
_LONGEST_VALUE = 200


def squeezed(text: str) -> str:
    """Letters and digits alone, case-folded, in American spelling."""
    return _NOT_A_WORD.sub("", text.casefold()).replace("our", "or")


def value_of(text: str, allowed: Iterable[str]) -> str | None:
    """The allowed value that the text says, as it is spelled there."""
    return _value_of(text[:_LONGEST_VALUE], tuple(allowed))


@lru_cache(maxsize=4096)
def _value_of(text: str, allowed: tuple[str, ...]) -> str | None:
    known = {squeezed(value): value for value in allowed}
    found = known.get(squeezed(text))
    return found or known.get(squeezed(_END_OF_VALUE.split(text.strip("([ "), maxsplit=1)[0]))


@lru_cache(maxsize=8192)
def _split(line: str, names: tuple[str, ...]) -> tuple[str, str] | None:
    """The label that a line names, and what follows."""
    text = plain(line)
    text = text[prefix_length(text) :]
    sign = min((at for at in (text.find(":"), text.find("=")) if at >= 0), default=-1)
    if not 0 < sign <= _LONGEST_NAME:
        return None
    name = {squeezed(each): each for each in names}.get(squeezed(text[:sign]))
    return None if name is None else (name, text[sign + 1 :])


def take_labels(
    lines: list[str], labels: Mapping[str, tuple[str, ...]], given: Given
) -> tuple[list[str], dict[str, str]]:
    """The lines that are no labels, and the labels that were understood.

    A value may stand on the line after its name. A label that stands in a text that the judge was given, one
    with an unknown value, and one that is said twice in different ways are left out.
    """
    if not labels:
        return lines, {}
    names = tuple(labels)
    rest: list[str] = []
    values: dict[str, set[str | None]] = {}
    waiting: str | None = None
    for line in lines:
        found = _split(line[: _LONGEST_NAME + _LONGEST_VALUE], names)
        if found is None:
            value = value_of(line, labels[waiting]) if waiting is not None and line.strip() else None
            if waiting is not None and value is not None:
                values[waiting].add(value)
            else:
                rest.append(line)
            waiting = waiting if not line.strip() else None
            continue
        name, said = found
        if given.hold(line):
            continue
        values.setdefault(name, set())
        if _NOT_A_WORD.sub("", said):
            values[name].add(value_of(said, labels[name]))
            waiting = None
        else:
            waiting = name
    agreed = {name: next(iter(said)) for name, said in values.items() if len(said) == 1}
    return rest, {name: value for name, value in agreed.items() if value is not None}


def labels_in(value: Mapping[str, object], labels: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The labels among the keys of a JSON object."""
    said = {squeezed(key): each for key, each in value.items()}
    found = {}
    for name, allowed in labels.items():
        text = said.get(squeezed(name))
        known = value_of(text, allowed) if isinstance(text, str) else None
        if known is not None:
            found[name] = known
    return found
