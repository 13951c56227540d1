"""Files of a prompt set: read whole, bounded, never from outside its directory; errors say where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from challenge_sets import DataReport, InputError
from challenge_sets.files import parse_json, read_text

_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Folder:
    """The directory of a prompt set."""

    path: Path

    @classmethod
    def of(cls, directory: str | Path) -> Folder:
        """``InputError`` where it is no directory."""
        path = Path(directory)
        if not path.is_dir():
            raise InputError(
                "no such directory" if not path.exists() else "a prompt set is a directory, not a file",
                path=path,
            )
        return cls(path)

    def has(self, name: str) -> bool:
        """Whether there is something of this name."""
        path = self.path / name
        return path.exists() or path.is_symlink()

    def text(self, name: str) -> str:
        """A file's text with ``\\n`` as line end, without a byte-order mark.

        ``InputError`` for a file that is missing, not UTF-8, over one megabyte or outside the directory.
        """
        path = self.path / name
        if not path.resolve().is_relative_to(self.path.resolve()):
            raise InputError("leads out of the directory of the prompt set", path=path)
        if path.exists() and not path.is_file():
            raise InputError("is not a file", path=path)
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            raise InputError("is larger than one megabyte", path=path)
        return read_text(path, DataReport()).replace("\r\n", "\n")

    def json(self, name: str) -> Any:
        """A file's JSON value."""
        return parse_json(self.text(name), path=self.path / name)


class Table:
    """A table of a manifest: fields by type, and an error that names the key, its line and what was meant."""

    def __init__(self, values: Mapping[str, Any], text: str, path: Path, name: str = "") -> None:
        self._values = values
        self._text = text
        self._path = path
        self._name = name

    def refuse(self, key: str, problem: str, hint: str | None = None) -> NoReturn:
        """Raise the ``InputError`` for a key."""
        line = next(
            (
                number
                for number, line in enumerate(self._text.split("\n"), 1)
                if re.match(rf"\s*(\[\s*)?[\"']?{re.escape(key)}[\"']?\s*[\]=.]", line)
            ),
            None,
        )
        raise InputError(f"'{self._called(key)}' {problem}", path=self._path, line=line, hint=hint)

    def _called(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Any:
        return iter(self._values)

    def only(self, known: Sequence[str], why: str = "is no key of a manifest") -> None:
        """Refuse every other key."""
        for key in self._values:
            if key not in known:
                near = get_close_matches(key, known, n=1)
                guess = f", did you mean '{near[0]}'?" if near else ""
                self.refuse(key, why + guess, f"there are: {', '.join(known)}")

    def string(self, key: str, default: str | None = None) -> str:
        """A string that is not blank; without a default it must be there."""
        if key not in self._values:
            if default is not None:
                return default
            raise InputError(f"'{self._called(key)}' is missing", path=self._path)
        value = self._values[key]
        if not isinstance(value, str) or not value.strip():
            self.refuse(key, "must be a string that is not blank")
        return value

    def choice(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """One of these strings."""
        value = self.string(key, default)
        if value not in allowed:
            self.refuse(key, f"is '{value}', it is one of {', '.join(allowed)}")
        return value

    def strings(self, key: str, default: Sequence[str] = (), allowed: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of different strings, none of them blank, all of them allowed ones where these are given."""
        value = self._values.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
            self.refuse(key, "must be a list of strings")
        if len(set(value)) < len(value):
            self.refuse(key, "names something twice")
        for each in value:
            if allowed and each not in allowed:
                self.refuse(key, f"has '{each}', there are: {', '.join(allowed)}")
        return tuple(value)

    def number(self, key: str, default: float | None) -> float | None:
        """A finite number, or the default."""
        value = self._values.get(key, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
            self.refuse(key, "must be a number, below 1e15")
        return float(value)

    def count(self, key: str, default: int | None) -> int | None:
        """A whole number from 1, or the default."""
        value = self._values.get(key, default)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            self.refuse(key, "must be a whole number from 1")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            self.refuse(key, "must be true or false")
        return value

    def table(self, key: str) -> Table:
        """A table; empty where it is left out."""
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            self.refuse(key, f"must be a table: [{key}]")
        return Table(value, self._text, self._path, self._called(key))
