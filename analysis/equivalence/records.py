"""The equivalence table as plain records: rows of the CSV file, and the JSON document."""

from __future__ import annotations

from typing import Any

from analysis.equivalence.cautions import FEW_CLUSTERS
from analysis.equivalence.methods import describe
from analysis.equivalence.table import POWER, EquivalenceRow, EquivalenceTable


def as_records(table: EquivalenceTable) -> list[dict[str, Any]]:
    """Every row as a mapping: the columns of the CSV file, where warnings are one text."""
    return [
        record | {"warnings": "; ".join(record["warnings"])}
        for record in (_record(table, row) for row in table.rows)
    ]


def as_document(table: EquivalenceTable) -> dict[str, Any]:
    """The whole table as a JSON object: configuration, how scores were paired, results."""
    options = table.options
    return {
        "configuration": {
            "table": str(table.path),
            "design": str(options.design),
            "difference": f"{table.second_name} - {table.first_name}",
            "unit": "metric units",
            "margins": list(options.margins),
            "alpha": options.alpha,
            "interval_level": options.level,
            "method": None if options.method is None else str(options.method),
            "methods": {
                str(method): describe(method, options.design)
                for method in dict.fromkeys(row.method for row in table.rows)
            },
            "resamples": options.resamples,
            "seed": options.seed,
            "power": POWER,
            "few_clusters_below": FEW_CLUSTERS,
        },
        "sources": [
            {
                "metric": source.metric,
                "rows": source.rows,
                "paired_by": source.paired_by,
                "unmatched": source.unmatched,
            }
            for source in table.sources
        ],
        "results": [_record(table, row) for row in table.rows],
    }


def _record(table: EquivalenceTable, row: EquivalenceRow) -> dict[str, Any]:
    found = row.estimate
    return {
        "metric": row.metric,
        "domain": row.domain,
        "method": str(row.method),
        "default": row.default,
        "margin": row.margin,
        "n": found.n,
        "missing": found.missing,
        "documents": found.documents,
        "annotators": found.annotators,
        f"mean_{table.first_name.lower()}": found.mean_first,
        f"mean_{table.second_name.lower()}": found.mean_second,
        "difference": found.difference,
        "se": found.se,
        "df": found.df,
        "low": row.low,
        "high": row.high,
        "log10_p_lower": row.log10_p_lower,
        "log10_p_upper": row.log10_p_upper,
        "log10_p": row.log10_p,
        "log10_p_difference": row.log10_p_difference,
        "verdict": row.verdict,
        "shown_within": row.shown_within,
        "smallest_margin": row.smallest_margin,
        "smallest_detectable": row.smallest_detectable,
        "warnings": list(row.warnings),
    }
