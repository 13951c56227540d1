"""Bootstrap over documents and annotators at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.resampling import resample_counts

_CHUNK = 2_000
"""Resamples drawn at a time: bounds the memory for tables of many documents. Part of what a seed means."""


def crossed_resamples(
    samples: Sequence[tuple[NDArray[np.float64], NDArray[np.intp] | None, NDArray[np.intp] | None]],
    resamples: int,
    seed: int,
) -> NDArray[np.float64]:
    """Bootstrap means of ``samples``, each (values, documents, annotators), all drawn together.

    Shape ``(resamples, len(samples))``. Documents and annotators are drawn with replacement, independently
    of each other, and a value weighs how often its document was drawn times how often its annotator was:
    the pigeonhole bootstrap (Owen 2007, Annals of Applied Statistics 1(2)), which errs on the side of too
    large a variance. Codes are gapless over all samples; ``None``: that clustering is not known,
    and the bootstrap is over the other alone. A resample without any value is NaN.
    """
    documents = _clusters([docs for _, docs, _ in samples])
    annotators = _clusters([names for _, _, names in samples])
    cells = []
    for values, docs, names in samples:
        place = np.zeros(values.size, dtype=np.intp) if docs is None else docs * annotators
        place = place if names is None else place + names
        size = documents * annotators
        sums = np.bincount(place, weights=values, minlength=size).reshape(documents, annotators)
        counts = np.bincount(place, minlength=size).reshape(documents, annotators).astype(np.float64)
        cells.append((sums, counts))
    rng = np.random.default_rng(seed)
    parts = []
    for start in range(0, resamples, _CHUNK):
        drawn = min(_CHUNK, resamples - start)
        by_document = resample_counts(documents, drawn, rng).astype(np.float64)
        by_annotator = resample_counts(annotators, drawn, rng).astype(np.float64)
        means = np.full((drawn, len(cells)), np.nan)
        for column, (sums, counts) in enumerate(cells):
            weight = ((by_document @ counts) * by_annotator).sum(axis=1)
            total = ((by_document @ sums) * by_annotator).sum(axis=1)
            np.divide(total, weight, out=means[:, column], where=weight > 0)
        parts.append(means)
    return np.concatenate(parts)


def _clusters(codes: Sequence[NDArray[np.intp] | None]) -> int:
    return max((int(column.max()) + 1 for column in codes if column is not None), default=1)


def usable_resamples(
    drawn: NDArray[np.float64], noise: float
) -> tuple[NDArray[np.float64] | None, float | None, tuple[str, ...]]:
    """The resamples that have a value, their SD, and a note on the others; no SD where they do not vary."""
    known = drawn[~np.isnan(drawn)]
    lost = drawn.size - known.size
    notes = (f"{lost} resamples drew no score and are left out",) if lost else ()
    if known.size < 2 or float(np.ptp(known)) <= noise:
        return None, None, notes
    return known, float(np.std(known, ddof=1)), notes
