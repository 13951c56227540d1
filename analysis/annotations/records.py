"""A study of annotations as plain records: rows of the CSV file, and the JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from analysis.annotations.boundaries import ZONE
from analysis.annotations.comparison import MEANINGS, Comparison, Side
from analysis.annotations.errors import PER_CHARACTERS, ErrorRates
from analysis.annotations.study import AnnotationStudy
from analysis.statistics.significance import p_text
from challenge_sets import DataReport
from challenge_sets.annotations import PUNCTUATION_WEIGHT, SEVERITY_WEIGHTS

BOUNDARY = (
    f"a span reaches an edge of its segment if it starts in the first or ends in the last {ZONE:.0%} of the "
    "characters; the baseline is the chance of that for spans of these lengths put anywhere in these texts"
)
"""What boundary shares are shares of, for captions and files."""


def as_records(study: AnnotationStudy) -> list[dict[str, Any]]:
    """The error rates of every part as mappings with one value a key: the rows of the CSV file."""
    return [_flat(rates) for rates in study.rates]


def _flat(rates: ErrorRates) -> dict[str, Any]:
    shares = rates.severity_shares
    boundary = rates.boundary
    return {
        "condition": rates.condition,
        "part": rates.part,
        "name": rates.name,
        "annotations": rates.annotations,
        "documents": rates.documents,
        "errors": rates.errors,
        "omissions": rates.omissions,
        "mean": rates.mean,
        "mean_low": rates.interval[0] if rates.interval else None,
        "mean_high": rates.interval[1] if rates.interval else None,
        "state": rates.state,
        "without_text": rates.without_text,
        "characters": rates.characters,
        f"per_{PER_CHARACTERS}": rates.per_1000,
        "error_free": rates.error_free,
        "error_free_share": rates.error_free_share,
        **{str(name): count for name, count in rates.severities.items()},
        **{f"{name}_share": shares[name] if shares else None for name in rates.severities},
        "spans": boundary.spans,
        "near_boundary": boundary.near,
        "boundary_share": boundary.share,
        "boundary_baseline": boundary.baseline,
        "boundary_excess": boundary.excess,
        "boundary_excess_low": boundary.excess_interval[0] if boundary.excess_interval else None,
        "boundary_excess_high": boundary.excess_interval[1] if boundary.excess_interval else None,
        "level": rates.level,
    }


def as_document(study: AnnotationStudy, report: DataReport) -> dict[str, Any]:
    """The whole study as a JSON object; p-values as log10 and as text."""
    options = study.options
    return {
        "configuration": {
            "margin": options.margin,
            "margin_unit": "errors per annotation",
            "alpha": options.alpha,
            "interval_level": 1.0 - options.alpha,
            "tost_interval_level": 1.0 - 2.0 * options.alpha,
            "pause_seconds": options.pause,
            "boundary_zone": ZONE,
            "boundary": BOUNDARY,
            "penalties": {**SEVERITY_WEIGHTS, "punctuation": PUNCTUATION_WEIGHT},
            "variants": {str(variant): meaning for variant, meaning in MEANINGS.items()},
        },
        "campaigns": [
            {
                "condition": condition,
                "campaign": campaign.name,
                "file": str(campaign.path),
                "protocol": campaign.protocol,
                "language_pair": campaign.language_pair,
                "saves": len(campaign.saves),
                "annotations": campaign.counts(),
                "annotators": len({found.annotator for found in campaign.real()}),
            }
            for condition, campaigns in study.campaigns.items()
            for campaign in campaigns
        ],
        "rates": as_records(study),
        "comparisons": [_comparison(found) for found in study.comparisons],
        "attention_checks": [
            asdict(outcome) | {"p_text": _text(outcome.log10_p)} for outcome in study.checks
        ],
        "times": [asdict(spent) for spent in study.times],
        "data_report": report.to_json(),
    }


def _comparison(found: Comparison) -> dict[str, Any]:
    estimate, tost = found.test.estimate, found.test.tost
    return {
        "first": found.first.condition,
        "second": found.second.condition,
        "variant": str(found.variant),
        "outputs": found.outputs,
        "only_first": found.only_first,
        "only_second": found.only_second,
        "mean_first": found.first.mean,
        "mean_second": found.second.mean,
        "difference": estimate.mean,
        "se": estimate.se,
        "df": estimate.df,
        "clustered_by": list(found.clustered_by),
        "clusters": estimate.clusters,
        "margin": found.margin,
        "tost_interval": found.tost_interval,
        "log10_p_equivalence": tost.log10_p if tost else None,
        "p_equivalence_text": _text(tost.log10_p if tost else None),
        "log10_p_difference": found.test.log10_p_difference,
        "p_difference_text": _text(found.test.log10_p_difference),
        "verdict": found.test.verdict,
        "naive_log10_p_equivalence": found.naive_log10_p,
        "smallest_detectable": found.smallest_detectable,
        **_side("first", found.first),
        **_side("second", found.second),
        "error_free_points": found.error_free_points,
        "boundary_points": found.boundary_points,
    }


def _side(name: str, side: Side) -> dict[str, Any]:
    return {
        f"error_free_share_{name}": side.error_free_share,
        f"boundary_share_{name}": side.boundary.share,
        f"boundary_baseline_{name}": side.boundary.baseline,
    }


def _text(log10_p: float | None) -> str | None:
    return None if log10_p is None else p_text(log10_p)
