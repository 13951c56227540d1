"""The sensitivity table as plain records: rows of the CSV file, and the JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

from analysis.mixed.interaction import Interaction
from analysis.sensitivity.cells import FEW_REACTIONS, POWER
from analysis.sensitivity.deltas import DeltaTable
from analysis.sensitivity.options import Model
from analysis.sensitivity.scaling import Standardization
from analysis.sensitivity.table import SensitivityTable
from analysis.statistics.significance import p_text, stars

MODELS: dict[Model, str] = {
    Model.CELLS: "cells: each cell for itself, standard errors robust to several pairs from one segment "
    "(CR2), t with Satterthwaite degrees of freedom",
    Model.JOINT: "joint: one mixed model of all metrics, delta ~ category × metric + (1 | segment), REML, "
    "which takes the variance to be the same in all cells; controls and baselines cell by cell",
    Model.PER_METRIC: "per-metric: one mixed model a metric, delta ~ category + (1 | segment), REML, which "
    "takes the variance to be the same in all categories; controls and baselines cell by cell",
}
"""What each model assumes, for captions and files."""


def as_records(table: SensitivityTable) -> list[dict[str, Any]]:
    """Every cell as a mapping, p-values as log10 and as text; the columns of the CSV file and of the JSON."""
    records = []
    for cell in table.cells:
        record = {field.name: getattr(cell, field.name) for field in fields(cell)}
        record["missing_reasons"] = dict(cell.missing_reasons)
        record["verdict"] = str(cell.verdict)
        record["verdict_by_model"] = {model: str(verdict) for model, verdict in cell.verdict_by_model.items()}
        record["verdict_if_centred"] = str(cell.verdict_if_centred)
        record |= {
            "p_text": None if cell.p is None else p_text(cell.p),
            "tost_p_text": None if cell.tost_p is None else p_text(cell.tost_p),
            "stars": stars(cell.p),
            "unit": unit(table),
        }
        records.append(record)
    return records


def as_document(table: SensitivityTable) -> dict[str, Any]:
    """The whole table as a JSON object: configuration, metrics with their scaling, cells."""
    options = table.options
    return {
        "configuration": {
            "set": table.set_name,
            "fingerprint": table.fingerprint,
            "pairs_rejected_by_vetting": table.rejected,
            "standardize": str(options.standardize),
            "unit": unit(table),
            "alpha": options.alpha,
            "interval_level": 1.0 - options.alpha,
            "margin": options.margin,
            "margin_sd": None if options.margin is not None else options.margin_in_sd,
            "model": str(options.model),
            "standard_error": MODELS[options.model],
            "correction": f"{options.correction.name_in_tables}; errors one family, variations another; "
            "controls and baselines unadjusted",
            "bootstrap_t": options.bootstrap_t,
            "seed": options.seed,
            "unreliable_below_reactions": FEW_REACTIONS,
            "uneven_cells": None if table.uneven is None else asdict(table.uneven),
            "power": POWER,
            "pseudo_references": list(table.pseudo_references),
        },
        "metrics": [
            {
                "label": entry.label,
                "metric": entry.metric.name,
                "signature": entry.metric.signature,
                "sentinel": entry.metric.sentinel,
                "tie_threshold": entry.metric.tie_threshold,
                "pseudo_reference": entry.metric.pseudo_reference,
                "target_lang": entry.metric.target_lang,
                "centre": entry.scaling.centre,
                "divisor": entry.scaling.divisor,
                "within_category_sd": entry.scaling.within_sd,
                "scaled_by": list(entry.scaling.basis),
            }
            for entry in table.metrics
        ],
        "interaction": interaction_document(table.interaction.model)
        | {"cluster_robust_wald": asdict(table.interaction.robust)},
        "cells": as_records(table),
    }


def unit(table: SensitivityTable) -> str:
    """What a mean of this table is measured in."""
    return {
        Standardization.SCALE: "SD within categories",
        Standardization.ZSCORE: "SD of all deltas",
        Standardization.RAW: "metric units",
        Standardization.SPREAD: "SD of the original outputs' scores",
    }[table.options.standardize]


def interaction_document(tests: Interaction) -> dict[str, Any]:
    """Both tests of the mixed model, ``None`` with a reason where there are none."""
    return {
        "lr": None if tests.lr is None else asdict(tests.lr),
        "wald": None if tests.wald is None else asdict(tests.wald),
        "reason": tests.reason or None,
    }


DELTA_COLUMNS = ("segment", "condition", "metric", "delta", "kind")


def delta_records(deltas: DeltaTable) -> Iterator[dict[str, object]]:
    """Every delta in metric units, one a row, as ``analysis mixed-model`` and other software read them.

    ``condition`` is the category. Pairs without a delta, and those that a metric cannot see, have no row.
    """
    for entry in deltas.metrics:
        for (kind, category), cell in entry.cells.items():
            for segment, delta in zip(cell.segments.tolist(), cell.deltas.tolist(), strict=True):
                row = (deltas.items[segment], category, entry.label, delta, kind)
                yield dict(zip(DELTA_COLUMNS, row, strict=True))
