"""From the store to the table: the answers of one metric, set beside the pairs they belong to."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from challenge_sets import SIDES, Status
from metrics.base import MetricAbout
from metrics.cells import Cells, Column, Kind, why_not
from metrics.requests import Details
from metrics.store import Store
from metrics.tables import Cell

_NOTHING_MORE = Details()


class Answers:
    """The answers of one metric, by the number of the input."""

    def __init__(self, about: MetricAbout, kind: Kind, column: Column, store: Store) -> None:
        self._about = about
        self._kind = kind
        self._column = column
        keys = list(column.numbers)
        self._raw = array("d", bytes(8 * len(keys)))
        self._view = array("q", bytes(8 * len(keys)))
        self._final = bytearray(len(keys))
        for key, raw, view in store.answers(about.signature, keys):
            number = column.numbers[key]
            self._raw[number], self._view[number], self._final[number] = raw, view, 1
        self._details = {
            column.numbers[key]: details for key, details in store.details(about.signature, keys)
        }
        lacking = [key for key, final in zip(keys, self._final, strict=True) if not final]
        self._failures: dict[int, tuple[Status, str]] = {
            column.numbers[key]: (status, reason)
            for key, status, reason in store.failures(about.signature, lacking)
        }

    @property
    def unknown_tokens(self) -> int:
        """Tokens that the metric's vocabulary does not hold, over the distinct inputs."""
        return sum(details.unknown for details in self._details.values())

    def cells(self, cells: Cells) -> Iterator[Cell]:
        """The table of the metric: both sides of each pair of its language, in the set's order."""
        raw, view, final = self._raw, self._view, self._final
        rows = cells.rows.get(self._about.target_lang, [])
        for row, *numbers in zip(rows, self._column.original, self._column.perturbed, strict=True):
            original, perturbed = numbers
            scored = original >= 0 and perturbed >= 0 and final[original] and final[perturbed]
            blind = bool(scored and original != perturbed and view[original] == view[perturbed])
            for side, number in zip(SIDES, numbers, strict=True):
                if number < 0:
                    yield Cell(row, side, None, "not_applicable", why_not(number, self._kind))
                elif final[number]:
                    details = self._details.get(number, _NOTHING_MORE)
                    reason = f"{details.unknown} tokens unknown to the model" if details.unknown else ""
                    yield Cell(row, side, raw[number], "ok", reason, blind, details.errors, details.labels)
                else:
                    status, reason = self._failures.get(number, ("failed", "it was never scored"))
                    yield Cell(row, side, None, status, reason)
