"""Word lists of the rule-made categories, and how they are read."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=32)
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of ``NAME.tsv`` in this folder, as columns; lines that start with ``#`` are comments."""
    text = files(__name__).joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    lines = (line for line in text.split("\n") if line and not line.startswith("#"))
    return tuple(tuple(line.split("\t")) for line in lines)


@lru_cache(maxsize=32)
def groups(name: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table of ``KEY<TAB>member, member, …`` as a mapping, keys in file order."""
    return {key: tuple(members.split(", ")) for key, members in rows(name)}


def words(text: str) -> frozenset[str]:
    """A set of words written in one string."""
    return frozenset(text.split())
