"""``python -m analysis tables``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def tables(
    out: Annotated[Path, typer.Option(help="Directory for the tables.")],
    set_directory: Annotated[
        Path | None, typer.Option("--set", help="Set directory with minimal pairs; needs --scores.")
    ] = None,
    scores: Annotated[Path | None, typer.Option(help="Scores directory made from that set.")] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Also a table for each domain, target_lang or field of the translations' meta."),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="CSV file annotator1,annotator2,category: agreement of annotators.")
    ] = None,
    judgements: Annotated[
        Path | None,
        typer.Option(
            help="CSV file condition,system,doc,segment,score and, if there, metric, annotator, domain."
        ),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(help="Equivalence margins for --judgements, in units of the scores, e.g. 3,5,7."),
    ] = None,
    campaign: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="A condition's campaign, as for errors; may be repeated."),
    ] = None,
    batches: Annotated[Path | None, typer.Option(help="JSON tasks of the campaigns, as for errors.")] = None,
    segments: Annotated[Path | None, typer.Option(help="Instead: TSV of items, as for errors.")] = None,
    mtme: Annotated[Path | None, typer.Option(help="mt-metrics-eval directory of their outputs.")] = None,
    alpha: Annotated[float, typer.Option(help="Level of the tests; intervals are at 1 - alpha.")] = 0.05,
    resamples: Annotated[int, typer.Option(help="Resamples of the bootstraps of --judgements.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstraps.")] = 0,
) -> None:
    """Regenerate the tables of the minimal-pair study and of the mixed-document study from your data."""
    from analysis.commands.options import check_count, check_level, margins
    from challenge_sets import InputError

    check_level("--alpha", alpha)
    check_count("--resamples", resamples, least=2)
    check_count("--seed", seed, least=0)
    if (set_directory is None) != (scores is None):
        raise InputError("--set and --scores go together")
    if by is not None and set_directory is None:
        raise InputError("--by is of a set: it needs --set and --scores")
    if (judgements is None) != (margin is None):
        raise InputError("--judgements and --margin go together", hint="the margin is in units of the scores")
    if not campaign and any(given is not None for given in (batches, segments, mtme)):
        raise InputError("--batches, --segments and --mtme are of campaigns: they need --campaign")
    if set_directory is None and labels is None and judgements is None and not campaign:
        raise InputError(
            "nothing to make tables of", hint="give --set and --scores, --labels, --judgements or --campaign"
        )

    from analysis.commands.campaigns import CampaignFiles, read_study
    from analysis.printing.files import print_text, write_report
    from analysis.studies.documents import document_study
    from analysis.studies.pairs import pair_study

    paths = []
    if set_directory is not None or labels is not None:
        paths += write_report(out, "minimal_pairs", *pair_study(set_directory, scores, by, labels, alpha))
    if judgements is not None or campaign:
        study = None
        if campaign:
            from analysis.annotations.study import AnnotationOptions

            files = CampaignFiles(tuple(campaign), batches, segments, mtme)
            study = read_study(files, AnnotationOptions(alpha=alpha))
        given = () if margin is None else margins("--margin", margin)
        found = document_study(judgements, given, study, alpha=alpha, resamples=resamples, seed=seed)
        paths += write_report(out, "mixed_documents", *found)
    print_text(*paths)
