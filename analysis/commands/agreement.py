"""``python -m analysis agreement``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.output import AsJson, Out


def agreement(
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="N,A1,A2,BOTH,NEITHER",
            help="Kappa from counts: items, valid for annotator 1, for 2, for both, for neither.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Kappa from a CSV file: annotator1,annotator2 and, if there, category, kind."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help="Krippendorff's alpha from a CSV file: doc,segment,system,annotator,score and, if there, "
            "condition, metric.",
        ),
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="Of the scores of --table: interval (default), ordinal or nominal.")
    ] = None,
    resamples: Annotated[int, typer.Option(help="Resamples for the bootstrap intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """How far annotators agree: Cohen's kappa of labels, Krippendorff's alpha of scores."""
    from analysis.commands.options import check_count, choice
    from analysis.commands.output import deliver
    from challenge_sets import InputError

    if sum(given is not None for given in (counts, labels, table)) != 1:
        raise InputError("agreement needs one of --counts, --labels and --table, and no other")
    if level is not None and table is None:
        raise InputError("--level is of scores: it needs --table")
    check_count("--resamples", resamples, least=2)
    check_count("--seed", seed, least=0)

    from analysis.agreement import layout

    if table is not None:
        from analysis.agreement.alpha import Level
        from analysis.agreement.table import alpha_table
        from analysis.judgements import read_judgements

        chosen = choice("--level", level or "interval", Level)
        judgements = read_judgements(table, optional=("condition", "metric", "domain"))
        alphas = alpha_table(judgements, level=chosen, resamples=resamples, seed=seed)
        report, records = layout.alpha_report(alphas), layout.alpha_records(alphas)
        document = layout.alpha_document(alphas)
    else:
        from analysis.agreement.kappa import kappa_from_counts
        from analysis.agreement.labels import (
            OVERALL,
            AgreementRow,
            agreement_rows,
            binary_counts,
            read_labels,
        )

        if labels is not None:
            rows = agreement_rows(read_labels(labels), resamples=resamples, seed=seed)
            document = layout.kappa_document(rows)
        else:
            given = binary_counts("--counts", counts or "")
            kappa = kappa_from_counts(given, resamples=resamples, seed=seed)
            rows = [AgreementRow("overall", OVERALL, kappa, given)]
            document = layout.kappa_record(kappa, given)
        report, records = layout.kappa_report(rows), layout.kappa_records(rows)
    deliver("agreement", report, records, document, out=out, as_json=as_json)
