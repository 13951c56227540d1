"""Keys that stand for inputs in the stores."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from typing import Any

from challenge_sets import Turn


def inputs_key(values: Any) -> bytes:
    """Sixteen bytes that stand for exactly these inputs: two different values never share an encoding.

    Takes strings, numbers, booleans, ``None``, ``Turn`` objects, and tuples, lists and mappings of these.
    Every part is written with its type and its length, so that ``("a_b", "c")`` and ``("a", "b_c")``,
    or ``None`` and ``"None"``, stay apart.
    """
    return hashlib.blake2b(_encoded(values), digest_size=16).digest()


def _encoded(value: Any) -> bytes:
    if isinstance(value, str):
        # A lone surrogate cannot be in a file, but it can come from a caller.
        raw = value.encode("utf-8", "surrogatepass")
        return b"s%d:%b" % (len(raw), raw)
    if isinstance(value, tuple | list):
        return b"l%d:%b" % (len(value), b"".join(map(_encoded, value)))
    if value is None or isinstance(value, bool | int | float):
        raw = f"{type(value).__name__} {value!r}".encode()
        return b"n%d:%b" % (len(raw), raw)
    if isinstance(value, Mapping):
        entries = sorted(_encoded(key) + _encoded(entry) for key, entry in value.items())
        return b"m%d:%b" % (len(entries), b"".join(entries))
    if isinstance(value, Turn):
        return b"t" + _encoded((value.speaker, value.text, value.time))
    raise TypeError(f"{type(value).__name__} cannot be part of a store key")


def view_key(view: Hashable) -> int:
    """A signed 64-bit number that stands for a view."""
    digest = hashlib.blake2b(repr(view).encode("utf-8", "backslashreplace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
