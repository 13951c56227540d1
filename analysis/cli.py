"""Command line of the analyses."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Turn scores into estimates, tests, tables and verdicts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _analysis() -> None:
    """Turn scores into estimates, tests, tables and verdicts."""


@app.command()
def sensitivity(
    set_directory: Annotated[Path, typer.Option("--set", help="Set directory with the pairs.")],
    scores: Annotated[Path, typer.Option(help="Scores directory made from that set.")],
    out: Annotated[Path, typer.Option(help="Directory for sensitivity.md, .csv, .tex and .json.")],
    standardize: Annotated[
        str,
        typer.Option(
            help="scale: SDs within categories, not centred; zscore: centred on the metric's mean; "
            "raw: metric units.",
        ),
    ] = "scale",
    margin_sd: Annotated[
        float | None, typer.Option(help="Equivalence margin for variations, in SDs (default 0.2).")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="The margin in metric units; needs --standardize raw.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level of the tests; intervals are at 1 - alpha.")] = 0.05,
    as_json: Annotated[bool, typer.Option("--json", help="Print the JSON table alone.")] = False,
) -> None:
    """What each metric penalises, per category of edit: means, intervals, tests, verdicts."""
    # Options are checked first: a wrong one must not wait for a large table to be read.
    from analysis.scaling import Standardization
    from analysis.sensitivity import SensitivityOptions
    from challenge_sets import ChallengeSet, InputError

    try:
        method = Standardization(standardize)
    except ValueError:
        raise InputError(
            f"--standardize is '{standardize}'", hint=f"one of: {', '.join(Standardization)}"
        ) from None
    options = SensitivityOptions(method, margin_sd, margin, alpha)

    from analysis.deltas import read_deltas
    from analysis.scores import PairScores
    from analysis.sensitivity import sensitivity as build
    from analysis.sensitivity_files import as_terminal_text, write_tables
    from analysis.sensitivity_layout import as_json as table_as_json
    from challenge_sets.files import dump_json

    opened = ChallengeSet(set_directory)
    table = build(read_deltas(opened, PairScores(scores, opened)), options)
    paths = write_tables(table, out)
    if isinstance(sys.stdout, io.TextIOWrapper) and as_json:
        sys.stdout.reconfigure(encoding="utf-8")  # JSON is UTF-8 wherever it goes.
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # A terminal without the marks shows others in their place.
    if as_json:
        typer.echo(dump_json(table_as_json(table), indent=1))
        return
    typer.echo(as_terminal_text(table))
    for path in paths:
        typer.echo(path)
