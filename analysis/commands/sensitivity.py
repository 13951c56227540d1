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
            "spread: SDs of the metric's scores over the original outputs; raw: metric units.",
        ),
    ] = "scale",
    model: Annotated[
        str,
        typer.Option(
            help="cells: each cell for itself, robust to clustering; joint: one mixed model; "
            "per-metric: one mixed model a metric.",
        ),
    ] = "cells",
    correction: Annotated[
        str, typer.Option(help="holm, or bh (Benjamini-Hochberg), within errors and within variations.")
    ] = "holm",
    margin_sd: Annotated[
        float | None, typer.Option(help="Equivalence margin for variations, in SDs (default 0.2).")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="The margin in metric units; needs --standardize raw.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level of the tests; intervals are at 1 - alpha.")] = 0.05,
    bootstrap_t: Annotated[
        bool, typer.Option("--bootstrap-t", help="Cells with few reactions go by the bootstrap-t.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap-t.")] = 0,
    deltas: Annotated[
        Path | None,
        typer.Option(help="Also write every delta to this CSV file: segment,condition,metric,delta,kind."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What each metric penalises, per category of edit: means, intervals, tests, verdicts."""
    # Options are checked first: a wrong one must not wait for a large table to be read.
    from analysis.commands.options import choice
    from analysis.sensitivity.options import Correction, Model, SensitivityOptions
    from analysis.sensitivity.scaling import Standardization
    from challenge_sets import ChallengeSet

    options = SensitivityOptions(
        standardize=choice("--standardize", standardize, Standardization),
        margin_sd=margin_sd,
        margin=margin,
        alpha=alpha,
        model=choice("--model", model, Model),
        correction=choice("--correction", correction, Correction),
        bootstrap_t=bootstrap_t,
        seed=seed,
    )

    from analysis.commands.output import deliver
    from analysis.printing.render import to_csv
    from analysis.sensitivity.deltas import read_deltas
    from analysis.sensitivity.layout import as_report, missing_lines
    from analysis.sensitivity.records import DELTA_COLUMNS, as_document, as_records, delta_records
    from analysis.sensitivity.scores import PairScores
    from analysis.sensitivity.table import sensitivity as build
    from challenge_sets.files import atomic_file

    opened = ChallengeSet(set_directory)
    found = read_deltas(opened, PairScores(scores, opened))
    table = build(found, options)
    if deltas is not None:
        with atomic_file(deltas) as stream:
            stream.write(to_csv(DELTA_COLUMNS, delta_records(found)))
    deliver(
        "sensitivity",
        as_report(table),
        as_records(table),
        as_document(table),
        out=out,
        as_json=as_json,
        more=missing_lines(table),
    )
