"""The files of a batch: requests written and split, results read line by line."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from challenge_sets.files import dump_json
from metrics.llm.batch_api import REQUESTS_TO
from metrics.llm.calls import Call

LONGEST_LINE = 32_000_000
"""Bytes that a line of results may have; the longest answers with all their probabilities need fewer."""

# Some readers take these for line ends, too; inside JSON they may be spelled as escapes.
_SEPARATORS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def request_line(call: Call) -> bytes:
    """A call as a line of a batch; ``UnicodeEncodeError`` where a text is none that can be sent."""
    line = {"custom_id": call.key.hex(), "method": "POST", "url": REQUESTS_TO, "body": call.body()}
    text = dump_json(line)
    for separator, escape in _SEPARATORS.items():
        text = text.replace(separator, escape)
    return text.encode("utf-8") + b"\n"


class RequestFile:
    """A file of requests that is being written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.requests = 0
        self.size = 0
        self._stream: IO[bytes] = path.open("wb")

    def write(self, lines: Iterable[bytes]) -> None:
        """Add lines."""
        for line in lines:
            self._stream.write(line)
            self.requests += 1
            self.size += len(line)

    def close(self) -> None:
        """Bring everything to the disk."""
        self._stream.close()


def keyed_lines(path: Path, most: int) -> Iterator[list[tuple[bytes, bytes]]]:
    """The lines of a file of requests, each with the key of its call, at most so many at a time."""
    with path.open("rb") as stream:
        while lines := list(itertools.islice(stream, most)):
            yield [(bytes.fromhex(json.loads(line)["custom_id"]), line) for line in lines]


@dataclass(frozen=True, slots=True)
class Result:
    """A line of results: the key of its call (``None``: an id that is none of ours) and what it holds."""

    key: bytes | None
    value: dict[str, Any]


def results(stream: IO[bytes]) -> Iterator[Result | None]:
    """The lines of a file of results; ``None`` for one that is cut off, too long, or none at all.

    One line is held at a time, of at most ``LONGEST_LINE`` bytes.
    """
    stream.seek(0)
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST_LINE)
            yield None
        elif line.strip():
            yield _result(line)


def _result(line: bytes) -> Result | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("custom_id"), str):
        return None
    key = None
    with suppress(ValueError):
        key = bytes.fromhex(value["custom_id"])
    return Result(key if key is not None and len(key) == 16 else None, value)
