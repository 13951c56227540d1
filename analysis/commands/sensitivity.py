"""``python -m analysis sensitivity``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.output import AsJson


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
    as_json: AsJson = False,
) -> None:
    """What each metric penalises, per category of edit: means, intervals, tests, verdicts."""
    # Options are checked first: a wrong one must not wait for a large table to be read.
    from analysis.commands.options import choice
    from analysis.sensitivity.scaling import Standardization
    from analysis.sensitivity.table import SensitivityOptions
    from challenge_sets import ChallengeSet

    options = SensitivityOptions(
        choice("--standardize", standardize, Standardization), margin_sd, margin, alpha
    )

    from analysis.commands.output import deliver
    from analysis.sensitivity.deltas import read_deltas
    from analysis.sensitivity.layout import as_json as document
    from analysis.sensitivity.layout import as_records, as_report, missing_lines
    from analysis.sensitivity.scores import PairScores
    from analysis.sensitivity.table import sensitivity as build

    opened = ChallengeSet(set_directory)
    table = build(read_deltas(opened, PairScores(scores, opened)), options)
    deliver(
        "sensitivity",
        as_report(table),
        as_records(table),
        document(table),
        out=out,
        as_json=as_json,
        more=missing_lines(table),
    )
