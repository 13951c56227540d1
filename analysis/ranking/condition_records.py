"""Rankings under several conditions as plain records: rows of the CSV file, and the JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from analysis.ranking.condition_table import ConditionRanking, RankedMetric
from analysis.ranking.conditions import ResampledTaus
from analysis.statistics.rank import KendallTau
from analysis.statistics.significance import p_text

COLUMNS = (
    "quantity",
    "metric",
    "domain",
    "condition",
    "second_condition",
    "system",
    "points",
    "estimate",
    "low",
    "high",
    "resampled_mean",
    "share_below_tau_min",
    "undefined_resamples",
    "rank",
    "rank_best",
    "rank_worst",
    "cluster",
    "net",
    "pairs",
    "identical_or_adjacent",
    "same_scores",
    "systems",
    "units",
    "documents",
    "state",
)
"""Columns of the CSV file; a field that a quantity does not have is empty."""


def as_records(ranking: ConditionRanking) -> list[dict[str, Any]]:
    """One row an estimate: means with their ranks, taus, reliabilities, agreement with people, R²."""
    return [dict.fromkeys(COLUMNS) | row for row in _rows(ranking)]


def _rows(ranking: ConditionRanking) -> Iterator[dict[str, Any]]:
    for metric in ranking.metrics:
        for ranked in metric.rankings:
            for system in ranked.systems:
                yield {
                    "quantity": "system mean",
                    "metric": metric.metric,
                    "condition": ranked.condition,
                    "system": system.system,
                    "estimate": system.mean,
                    "rank": system.rank,
                    "rank_best": system.best,
                    "rank_worst": system.worst,
                    "cluster": system.cluster,
                    "systems": len(metric.systems),
                    "units": metric.units,
                    "documents": metric.documents,
                    "state": "ok",
                }
    for tau in ranking.taus:
        yield {
            "quantity": "tau between conditions",
            "metric": tau.metric,
            "domain": tau.domain,
            "condition": tau.first,
            "second_condition": tau.second,
            "identical_or_adjacent": tau.adjacent,
            "same_scores": tau.same_scores,
            "systems": tau.systems,
            "units": tau.units,
            "documents": tau.documents,
            "state": tau.state,
            **_tau(tau.tau),
            **_resampled(tau.resampled),
        }
    for own in ranking.reliability:
        for quantity, found in (
            ("tau between halves of judgements", own.judges),
            ("tau between halves of documents", own.halves),
            ("tau of resampled documents with all", own.against_all),
        ):
            if found is not None:
                yield {
                    "quantity": quantity,
                    "metric": own.metric,
                    "condition": own.condition,
                    "systems": own.systems,
                    "units": own.judged_twice if found is own.judges else own.units,
                    "documents": own.documents,
                    "state": own.state,
                    **_resampled(found),
                }
    for agreement in ranking.agreement:
        yield {
            "quantity": f"tau with {agreement.gold}",
            "metric": agreement.metric,
            "condition": agreement.condition,
            "systems": agreement.systems,
            "units": agreement.units,
            "documents": agreement.documents,
            "state": agreement.state,
            **_tau(agreement.tau),
            **_resampled(agreement.resampled),
        }
    for explained in ranking.mechanism:
        low, high = explained.interval or (None, None)
        yield {
            "quantity": f"R2 on segments alone, by {explained.level}",
            "metric": explained.metric,
            "condition": explained.condition,
            "points": explained.points,
            "estimate": explained.r2,
            "low": low,
            "high": high,
            "undefined_resamples": explained.undefined,
            "documents": explained.documents,
            "state": explained.state,
        }


def _tau(tau: KendallTau | None) -> dict[str, Any]:
    return {} if tau is None else {"estimate": tau.tau, "net": tau.net, "pairs": tau.pairs}


def _resampled(taus: ResampledTaus | None) -> dict[str, Any]:
    if taus is None:
        return {}
    low, high = taus.interval or (None, None)
    return {
        "resampled_mean": taus.mean,
        "low": low,
        "high": high,
        "share_below_tau_min": taus.below,
        "undefined_resamples": taus.undefined,
    }


def as_document(ranking: ConditionRanking) -> dict[str, Any]:
    """Everything as a JSON object: configuration, rankings with every test, taus, baselines, mechanism."""
    options = ranking.options
    clusters = options.clusters
    return {
        "configuration": {
            "table": str(ranking.path),
            "gold": ranking.gold,
            "conditions": list(ranking.conditions),
            "domains": list(ranking.domains),
            "tau_min": options.tau_min.text,
            "tau_min_least": str(options.tau_min.least),
            "resamples": options.resamples,
            "seed": options.seed,
            "confidence": options.confidence,
            "intervals": "percentiles of resampled documents: descriptive, no test",
            "test": str(clusters.test),
            "zero_method": str(clusters.zero_method) if clusters.test == "wilcoxon" else None,
            "by": str(clusters.by) if clusters.test == "permutation" else "segment",
            "permutations": clusters.permutations if clusters.test == "permutation" else None,
            "alpha": clusters.alpha,
            "p_values": "two-sided, unadjusted",
        },
        "metrics": [_metric(metric) for metric in ranking.metrics],
        "taus": [asdict(tau) for tau in ranking.taus],
        "reliability": [asdict(own) for own in ranking.reliability],
        "agreement": [asdict(agreement) for agreement in ranking.agreement],
        "mechanism": [asdict(explained) for explained in ranking.mechanism],
    }


def _metric(metric: RankedMetric) -> dict[str, Any]:
    return {
        "metric": metric.metric,
        "conditions": list(metric.conditions),
        "systems": list(metric.systems),
        "left_out": list(metric.left_out),
        "units": metric.units,
        "documents": metric.documents,
        "incomplete_units": metric.incomplete,
        "missing_judgements": metric.missing,
        "rankings": [
            {
                "condition": ranked.condition,
                "independent_units": ranked.units,
                "systems": [asdict(system) for system in ranked.systems],
                "tests": [
                    asdict(test) | {"p_text": None if test.log10_p is None else p_text(test.log10_p)}
                    for test in ranked.tests
                ],
            }
            for ranked in metric.rankings
        ],
    }
