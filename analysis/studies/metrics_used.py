"""The metrics of a table: models, inputs, languages and sources (Table 5 of Quinjica et al. 2026)."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.printing.render import Column, Entry, Sheet
from metrics.base import MetricAbout


def metrics_sheet(metrics: Sequence[MetricAbout]) -> Sheet:
    """One row a metric and signature: what it reads, size of its model, language, direction, source."""
    rows = [
        (
            Entry(about.name + (" (baseline)" if about.sentinel else "")),
            Entry(", ".join(about.inputs)),
            Entry("" if about.parameters is None else _size(about.parameters)),
            Entry(about.target_lang),
            Entry("higher" if about.higher_is_better else "lower"),
            Entry(about.pseudo_reference or ""),
            Entry(about.citation),
            Entry(about.signature),
        )
        for about in metrics
    ]
    columns = (
        Column("metric", "left"),
        Column("looks at", "left"),
        Column("parameters"),
        Column("target language", "left"),
        Column("better as given", "left"),
        Column("pseudo-reference", "left"),
        Column("source", "left"),
        Column("signature", "left"),
    )
    caption = (
        "Parameters: weights of the metric's model, empty where it has none.",
        "Better as given: the direction of the raw scores; in all other tables higher is better.",
    )
    return Sheet("metrics", "Metrics", caption, columns, tuple(rows), long=True)


def _size(parameters: int) -> str:
    """``580M``, ``10.7B``: three digits."""
    for unit, name in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if parameters >= unit:
            return f"{parameters / unit:.3g}{name}"
    return str(parameters)
