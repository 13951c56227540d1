"""Fields of a JSON object by type; ``ValueError`` says which one is missing or of another type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def string(value: Mapping[str, Any], key: str) -> str:
    """A field that must be a string; an empty one is a string."""
    found = value.get(key)
    if not isinstance(found, str):
        raise ValueError(f"'{key}' is {'missing' if found is None else 'not a string'}")
    return found


def optional_string(value: Mapping[str, Any], key: str) -> str | None:
    """A field that is a string, or null, or left out."""
    return None if value.get(key) is None else string(value, key)


def integer(value: Mapping[str, Any], key: str) -> int:
    """A field that must be a whole number; true and false are none."""
    found = value.get(key)
    if not isinstance(found, int) or isinstance(found, bool):
        raise ValueError(f"'{key}' is {'missing' if found is None else 'not a whole number'}")
    return found


def mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A field that is an object; empty where it is null or left out."""
    found = value.get(key)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise ValueError(f"'{key}' is not an object")
    return found
