"""The ranking of metrics as plain records: rows of the CSV file, and the JSON document."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from analysis.ranking.correlations import Correlations
from analysis.ranking.metrics_table import MetricRanking, MetricRow


def as_records(ranking: MetricRanking) -> list[dict[str, Any]]:
    """One flat mapping a metric, best first; missing values are ``None``."""
    return [_record(ranking, row) for row in ranking.rows]


def as_document(ranking: MetricRanking) -> dict[str, Any]:
    """The whole ranking as a JSON object: configuration, human scores, metrics, comparisons."""
    options, benchmark, ties = ranking.options, ranking.benchmark, ranking.gold_ties
    documents = benchmark.documents
    return {
        "configuration": {
            "benchmark": ranking.source,
            "lang_pair": benchmark.lang_pair,
            "gold": benchmark.gold.name,
            "permutations": options.permutations,
            "seed": options.seed,
            "by": str(options.by),
            "units": ranking.units,
            "statistic": str(options.statistic),
            "alpha": options.alpha,
            "grouping": "item",
        },
        "systems": list(benchmark.systems),
        "left_out": dict(benchmark.left_out),
        "segments": benchmark.segment_count,
        "documents": None if documents is None else len(set(documents)),
        "gold": {
            "name": benchmark.gold.name,
            "segments_rated": benchmark.gold.segments_rated,
            "system_scores": benchmark.gold.system_from,
            "scores": dict(zip(benchmark.systems, map(_number, benchmark.gold.system), strict=True)),
            "pairs": ties.pairs,
            "ties": ties.ties,
            "tie_rate": ties.rate,
            "ties_hidden_by_rounding": ties.hidden,
        },
        "metrics": as_records(ranking),
        "comparisons": [asdict(comparison) for comparison in ranking.comparisons],
    }


def _record(ranking: MetricRanking, row: MetricRow) -> dict[str, Any]:
    record: dict[str, Any] = {
        "metric": row.scores.name,
        "reference": row.scores.reference,
        "state": str(row.state),
        "systems": len(ranking.benchmark.systems),
        "segments_rated": row.segments_shared,
        "system_scores": row.scores.system_from,
        "system_pairwise_accuracy": row.accuracy.accuracy,
        "system_pairs": row.accuracy.pairs,
        "system_pairs_agreeing": row.accuracy.agreeing,
        "system_ties_gold": row.accuracy.gold_ties,
        "system_ties": row.accuracy.metric_ties,
        "soft_pairwise_accuracy": row.soft.accuracy,
        "segment_pairwise_accuracy": row.ties.accuracy,
        "threshold": row.ties.threshold,
        "segment_pairwise_accuracy_uncalibrated": row.ties.uncalibrated,
        "segment_pairs": row.ties.pairs,
        "tie_rate": row.all_ties.rate,
        "tie_rate_rated": row.ties.tie_rate,
        "tie_rate_calibrated": row.ties.calibrated_tie_rate,
        "gold_tie_rate": row.ties.gold_tie_rate,
    }
    for level, found in (
        ("system", row.system),
        ("segment", row.segment),
        ("item", row.item),
        ("per_system", row.per_system),
    ):
        record |= _correlations(level, found)
    record |= {
        "items": row.item.groups,
        "items_constant": row.item.constant,
        "systems_constant": row.per_system.constant,
        "tested": row.tested,
        "cluster": row.cluster,
    }
    return record


def _correlations(level: str, found: Correlations) -> dict[str, float | None]:
    return {
        f"{level}_pearson": found.pearson,
        f"{level}_spearman": found.spearman,
        f"{level}_kendall": found.kendall,
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
