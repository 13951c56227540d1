"""Errors counted: per annotation and per 1,000 characters, by severity and by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from analysis.annotations.boundaries import BoundaryShare, boundary_share
from analysis.statistics.estimates import State, interval
from analysis.statistics.multiway import multiway_mean
from challenge_sets.annotations import SPAN_SEVERITIES, Annotation, ErrorSpan, SpanSeverity

Part = Literal["condition", "campaign", "system", "domain"]
PARTS: tuple[Part, ...] = get_args(Part)

PER_CHARACTERS = 1000
"""Errors are also given per this many characters of the translations (Kim et al. 2026)."""

_KEYS: dict[Part, Callable[[Annotation], str | None]] = {
    "condition": lambda annotation: "",
    "campaign": lambda annotation: annotation.campaign,
    "system": lambda annotation: annotation.system,
    "domain": lambda annotation: annotation.domain,
}


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """The errors of one part of one condition; what cannot be said is ``None``, never 0.

    ``mean`` is errors (omissions included) per annotation, its ``interval`` robust to correlation within
    documents (CR2; ``state`` says why there is none). ``per_1000`` is a ratio of totals over the annotations
    whose text is known: their errors for each 1,000 of their ``characters``. ``severity_shares`` are shares
    of all errors.
    """

    condition: str
    part: Part
    name: str
    annotations: int
    documents: int
    errors: int
    omissions: int
    mean: float | None
    interval: tuple[float, float] | None
    state: State
    without_text: int
    characters: int
    per_1000: float | None
    error_free: int
    error_free_share: float | None
    severities: dict[SpanSeverity, int]
    severity_shares: dict[SpanSeverity, float] | None
    boundary: BoundaryShare
    level: float


def rates_by_part(
    condition: str, annotations: Sequence[Annotation], part: Part, *, level: float
) -> list[ErrorRates]:
    """The rates of each campaign, system or domain of a condition, by name, or of it as a whole.

    Annotations whose domain is not known are in none. ``level`` is that of the intervals, e.g. 0.95.
    """
    groups: dict[str, list[Annotation]] = {"": []} if part == "condition" else {}
    for annotation in annotations:
        key = _KEYS[part](annotation)
        if key is not None:
            groups.setdefault(key, []).append(annotation)
    return [error_rates(condition, part, name, groups[name], level=level) for name in sorted(groups)]


def error_rates(
    condition: str, part: Part, name: str, annotations: Sequence[Annotation], *, level: float
) -> ErrorRates:
    """Count the errors of these annotations; each annotation counts once, whoever made it."""
    spans: list[Sequence[ErrorSpan]] = [annotation.spans for annotation in annotations]
    counts = [len(found) for found in spans]
    clusters = [[found.doc for found in annotations], [found.annotator for found in annotations]]
    estimate = multiway_mean(np.array(counts, dtype=np.float64), clusters)
    between = None
    if estimate.mean is not None and estimate.se is not None and estimate.df is not None:
        between = interval(estimate.mean, estimate.se, estimate.df, level)
    texts = [annotation.text for annotation in annotations]
    characters = sum(len(text) for text in texts if text is not None)
    errors_there = sum(count for count, text in zip(counts, texts, strict=True) if text is not None)
    severities = Counter(span.severity for found in spans for span in found)
    errors, free = sum(counts), counts.count(0)
    return ErrorRates(
        condition=condition,
        part=part,
        name=name,
        annotations=len(counts),
        documents=len({annotation.doc for annotation in annotations}),
        errors=errors,
        omissions=sum(span.omission for found in spans for span in found),
        mean=estimate.mean,
        interval=between,
        state=estimate.state,
        without_text=texts.count(None),
        characters=characters,
        per_1000=PER_CHARACTERS * errors_there / characters if characters else None,
        error_free=free,
        error_free_share=free / len(counts) if counts else None,
        severities={severity: severities[severity] for severity in SPAN_SEVERITIES},
        severity_shares=(
            {severity: severities[severity] / errors for severity in SPAN_SEVERITIES} if errors else None
        ),
        boundary=boundary_share(annotations, spans, level=level),
        level=level,
    )
