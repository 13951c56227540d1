"""``python -m analysis equivalence``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.output import AsJson, Out


def equivalence(
    table: Annotated[
        Path,
        typer.Option(
            help="CSV file, a row a unit: DOC,MIX and, if there, doc,annotator,domain,metric. An empty field "
            "is a missing score.",
        ),
    ],
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="3,5,7", help="Equivalence margins in the units of the scores; there is no default."
        ),
    ] = None,
    design: Annotated[
        str,
        typer.Option(
            help="paired: both scores of a row belong together; unpaired: two samples, a row may hold one "
            "score; per-annotator: one difference of means an annotator.",
        ),
    ] = "paired",
    method: Annotated[
        str | None,
        typer.Option(
            help="Method that verdicts go by (naive, document, annotator, two-way, bootstrap); by default it "
            "clusters by document and annotator, whichever the table has. All are in the files.",
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level of the tests; intervals are at 1 - 2 alpha.")] = 0.05,
    resamples: Annotated[int, typer.Option(help="Resamples of the bootstrap.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Whether scores under MIX are those under DOC, within a margin stated beforehand."""
    from analysis.commands.options import check_count, check_level, choice, margins
    from analysis.equivalence.options import FEWEST_RESAMPLES, Design, EquivalenceOptions, Method
    from challenge_sets import InputError

    if margin is None:
        raise InputError(
            "equivalence needs --margin, the largest difference that does not matter",
            hint="in the units of the scores and fixed before looking at them, e.g. --margin 3,5,7",
        )
    check_level("--alpha", alpha)
    check_count("--resamples", resamples, least=FEWEST_RESAMPLES)
    check_count("--seed", seed, least=0)
    options = EquivalenceOptions(
        margins=margins("--margin", margin),
        design=choice("--design", design, Design),
        method=None if method is None else choice("--method", method, Method),
        alpha=alpha,
        resamples=resamples,
        seed=seed,
    )

    from analysis.commands.output import deliver
    from analysis.equivalence.layout import as_report, warning_lines
    from analysis.equivalence.pairs import read_pairs
    from analysis.equivalence.records import as_document, as_records
    from analysis.equivalence.table import equivalence as build

    found = build(read_pairs(table), options)
    deliver(
        "equivalence",
        as_report(found),
        as_records(found),
        as_document(found),
        out=out,
        as_json=as_json,
        more=warning_lines(found),
    )
