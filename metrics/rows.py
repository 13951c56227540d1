"""From the store to the table: the answers of one metric, set beside the pairs they belong to."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping

from challenge_sets import SIDES, Status
from challenge_sets.parallel import chunked
from metrics.base import MetricAbout
from metrics.cells import Cells, Column, Kind, PairRow, why_not
from metrics.requests import Details
from metrics.store import Store
from metrics.tables import Cell

_NOTHING_MORE = Details()
_PAIRS_AT_ONCE = 400


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
        self._keys = keys
        self._store = store
        self._detailed = store.detailed(about.signature)
        self.unknown_tokens = store.unknown_tokens(about.signature, keys) if self._detailed else 0
        """Tokens that the metric's vocabulary does not hold, over the distinct inputs."""
        lacking = [key for key, final in zip(keys, self._final, strict=True) if not final]
        self._failures: dict[int, tuple[Status, str]] = {
            column.numbers[key]: (status, reason)
            for key, status, reason in store.failures(about.signature, lacking)
        }

    def cells(self, cells: Cells) -> Iterator[Cell]:
        """The table of the metric: both sides of each pair of its language, in the set's order."""
        rows = cells.rows.get(self._about.target_lang, [])
        pairs = zip(rows, self._column.original, self._column.perturbed, strict=True)
        # What was marked in a text can be longer than the text: it is held for a few pairs at a time.
        for part in chunked(pairs, _PAIRS_AT_ONCE):
            details = self._details({number for _, *numbers in part for number in numbers if number >= 0})
            for row, original, perturbed in part:
                yield from self._pair(row, original, perturbed, details)

    def _details(self, numbers: set[int]) -> dict[int, Details]:
        if not self._detailed:
            return {}
        keys = [self._keys[number] for number in numbers]
        found = self._store.details(self._about.signature, keys)
        return {self._column.numbers[key]: details for key, details in found}

    def _pair(
        self, row: PairRow, original: int, perturbed: int, details: Mapping[int, Details]
    ) -> Iterator[Cell]:
        raw, view, final = self._raw, self._view, self._final
        scored = original >= 0 and perturbed >= 0 and final[original] and final[perturbed]
        blind = bool(scored and original != perturbed and view[original] == view[perturbed])
        for side, number in zip(SIDES, (original, perturbed), strict=True):
            if number < 0:
                yield Cell(row, side, None, "not_applicable", why_not(number, self._kind))
            elif final[number]:
                more = details.get(number, _NOTHING_MORE)
                reason = f"{more.unknown} tokens unknown to the model" if more.unknown else ""
                yield Cell(row, side, raw[number], "ok", reason, blind, more.errors, more.labels)
            else:
                status, reason = self._failures.get(number, ("failed", "it was never scored"))
                yield Cell(row, side, None, status, reason)
