"""``errors.jsonl``: the errors that metrics marked and their labels, one line a scored side of a pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from challenge_sets import DataReport, MarkedError, Side
from challenge_sets.files import atomic_file, dump_json, locating, read_jsonl
from challenge_sets.json_fields import mapping
from metrics.base import MetricAbout
from metrics.cells import PairRow

ERRORS = "errors.jsonl"


@dataclass(frozen=True, slots=True)
class MarkedText:
    """What one metric marked in one side of a pair; no error is an empty tuple, ``None`` a metric without."""

    metric: str
    signature: str
    pair: str
    side: Side
    item: str
    system: str
    doc: str
    errors: tuple[MarkedError, ...] | None
    labels: Mapping[str, str]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """One line of the file; ``KeyError``, ``TypeError`` or ``ValueError`` where it is none."""
        fields = {name: value[name] for name in cls.__slots__ if name not in ("errors", "labels")}
        errors = value["errors"]
        marked = None if errors is None else tuple(map(MarkedError.from_json, errors))
        return cls(**fields, errors=marked, labels=mapping(value, "labels"))


class ErrorWriter:
    """Writes the file whole, or removes an earlier one where nothing was marked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stack = ExitStack()
        self._stream: IO[str] | None = None

    def __enter__(self) -> Self:
        return self

    def write(
        self,
        about: MetricAbout,
        row: PairRow,
        side: Side,
        errors: Sequence[MarkedError] | None,
        labels: Mapping[str, str],
    ) -> None:
        """Add what was said of one side of a pair."""
        if self._stream is None:
            self._stream = self._stack.enter_context(atomic_file(self.path))
        line: dict[str, Any] = {"metric": about.name, "signature": about.signature, "side": side}
        line |= row._asdict()
        line["errors"] = None if errors is None else [each.to_json() for each in errors]
        if labels:
            line["labels"] = dict(labels)
        self._stream.write(dump_json(line) + "\n")

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)
        if self._stream is None and raised[0] is None:
            self.path.unlink(missing_ok=True)


def read_marked_errors(directory: str | Path) -> Iterator[MarkedText]:
    """Stream ``errors.jsonl`` of a table of scores; nothing where no metric of the table marks errors.

    Offsets count code points of the hypothesis, for a metric of whole documents those of its segments joined
    by one space. Raises ``InputError`` with file and line for a line that is none.
    """
    path = Path(directory) / ERRORS
    if not path.is_file():
        return
    for number, value in read_jsonl(path, DataReport()):
        with locating(path, number):
            yield MarkedText.from_json(value)
