"""Word lists and tables: written in the code as running text, or kept in the data files of this package.

In a data file a line is an entry, a tab parts its columns, ``", "`` the members of a list within a column,
and a line that starts with ``#`` is a comment. Names of files are relative to ``perturb/rules``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files


def word_tuple(text: str) -> tuple[str, ...]:
    """Words written as running text, in order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """A set of words written as running text."""
    return frozenset(text.split())


def alternation(words: Iterable[str]) -> str:
    """The inside of a regular expression that matches any of the words, the longest that fits first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def read_lines(name: str) -> tuple[str, ...]:
    """The entries of a data file: lines that are neither empty nor comments."""
    text = files("perturb.rules").joinpath(name).read_text(encoding="utf-8")
    # Not splitlines, which would also break at separators that belong to the data.
    return tuple(line for line in text.split("\n") if line and not line.startswith("#"))


def read_words(name: str) -> frozenset[str]:
    """The words of a data file, separated by white space."""
    return word_set(" ".join(read_lines(name)))


@lru_cache(maxsize=32)
def read_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a data file, as columns."""
    return tuple(tuple(line.split("\t")) for line in read_lines(name))


@lru_cache(maxsize=32)
def read_groups(name: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table of a key and its members as a mapping, keys in file order."""
    return {key: tuple(members.split(", ")) for key, members in read_rows(name)}
