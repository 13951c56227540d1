"""``python -m analysis mixed-model``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.output import AsJson, Out


def mixed_model(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv",
            help="Long table with the columns segment,condition,metric,delta; an empty delta is missing.",
        ),
    ],
    ml: Annotated[bool, typer.Option("--ml", help="Maximum likelihood instead of REML.")] = False,
    engine: Annotated[
        str,
        typer.Option(
            help="exact: profile likelihood; statsmodels: its MixedLM, slower, as a second opinion."
        ),
    ] = "exact",
    factor: Annotated[
        str, typer.Option(help="Column that plays the condition, such as category or period.")
    ] = "condition",
    by: Annotated[
        str | None,
        typer.Option(help="Column of a further factor, such as period: its interaction with the metric."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Intervals are at 1 - alpha.")] = 0.05,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Fit delta ~ condition × metric + (1 | segment) to any long table: cell means and their interaction."""
    from analysis.commands.options import check_level, choice
    from analysis.mixed.model import Engine, MixedOptions, fit_mixed_model, read_mixed_table

    check_level("--alpha", alpha)
    options = MixedOptions(
        reml=not ml,
        engine=choice("--engine", engine, Engine),
        factor=factor,
        by=by,
        alpha=alpha,
    )

    from analysis.commands.output import deliver
    from analysis.mixed.layout import as_document, as_records, as_report, lines

    found = fit_mixed_model(read_mixed_table(table, options), options)
    deliver(
        "mixed-model",
        as_report(found),
        as_records(found),
        as_document(found),
        out=out,
        as_json=as_json,
        more=lines(found),
        long=True,
    )
