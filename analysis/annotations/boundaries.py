"""How many errors lie near the edges of their segment, and how many would if place meant nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.estimates import interval
from analysis.statistics.multiway import multiway_mean
from challenge_sets.annotations import Annotation, ErrorSpan

ZONE = 0.2
"""The edges of a segment: this share of its characters at the start, and as much at the end."""


@dataclass(frozen=True, slots=True)
class BoundaryShare:
    """Of ``spans`` errors with a place, ``near`` reach into an edge; shares are ``None`` without spans.

    ``baseline`` is the mean over these spans of the chance that a span of its length, put anywhere in its
    text with equal probability, reaches into an edge. ``excess`` is share - baseline, with an interval robust
    to correlation within documents (``None`` with fewer than two, or without variance).
    """

    spans: int
    near: int
    share: float | None
    baseline: float | None
    excess: float | None
    excess_interval: tuple[float, float] | None
    zone: float
    level: float


def near_boundary(
    start: NDArray[np.int64], end: NDArray[np.int64], length: NDArray[np.int64], zone: float = ZONE
) -> NDArray[np.bool_]:
    """Whether spans ``[start, end)`` of texts of ``length`` characters (shape ``(n,)`` each) reach an edge.

    A span does if it starts in the first ``zone`` of the characters or ends in the last: if its first
    character is among the first ceil(zone × length), or its last one among as many at the end.
    """
    edge = _edge(length, zone)
    return (start < edge) | (end > length - edge)


def boundary_baseline(
    span: NDArray[np.int64], length: NDArray[np.int64], zone: float = ZONE
) -> NDArray[np.float64]:
    """The chance of ``near_boundary`` for spans of ``span`` characters placed uniformly; shape ``(n,)``.

    Of the length - span + 1 places, as many as the edge has characters lie at either end; the two groups
    overlap in short texts. With spans of one character it is 2 × zone, up to rounding of the edge: the
    40 % that Kim et al. 2026 give for a zone of a fifth. Longer spans reach an edge more often.
    """
    places = length - span + 1
    return np.minimum(places, 2 * _edge(length, zone)) / places


def _edge(length: NDArray[np.int64], zone: float) -> NDArray[np.int64]:
    # A product like 0.2 × 15 may lie above the whole number that it stands for.
    return np.ceil(zone * length - 1e-9).astype(np.int64)


def boundary_share(
    annotations: Sequence[Annotation],
    spans: Sequence[Sequence[ErrorSpan]],
    *,
    level: float,
    zone: float = ZONE,
) -> BoundaryShare:
    """Place the ``spans`` chosen of each annotation; omissions and those without a text are left out.

    ``level`` is that of the interval, e.g. 0.95.
    """
    found = [
        (span.start, span.end, len(annotation.text), annotation.doc, annotation.annotator)
        for annotation, chosen in zip(annotations, spans, strict=True)
        for span in chosen
        if annotation.text is not None and not span.omission
    ]
    if not found:
        return BoundaryShare(0, 0, None, None, None, None, zone, level)
    start, end, length = np.array([row[:3] for row in found], dtype=np.int64).T
    near = near_boundary(start, end, length, zone)
    baseline = boundary_baseline(end - start, length, zone)
    clusters = [[row[3] for row in found], [row[4] for row in found]]
    estimate = multiway_mean(near - baseline, clusters)
    between = None
    if estimate.mean is not None and estimate.se is not None and estimate.df is not None:
        between = interval(estimate.mean, estimate.se, estimate.df, level)
    return BoundaryShare(
        spans=len(found),
        near=int(near.sum()),
        share=float(near.mean()),
        baseline=float(baseline.mean()),
        excess=estimate.mean,
        excess_interval=between,
        zone=zone,
        level=level,
    )
