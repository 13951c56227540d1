"""``python -m analysis errors``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.commands.output import AsJson, Out

if TYPE_CHECKING:
    from analysis.annotations.study import AnnotationStudy


def errors(
    campaign: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=FILE",
            help="A condition and a campaign's CSV file as Appraise exports it (ESA or MQM). Repeat it for "
            "more conditions, and under the same name to make one condition of several files.",
        ),
    ],
    batches: Annotated[
        Path | None, typer.Option(help="JSON tasks of the campaigns: says which segment an item is.")
    ] = None,
    segments: Annotated[
        Path | None,
        typer.Option(
            help="Instead: TSV with item_id, line (from 0), doc_id and, if there, domain. With neither, an "
            "item is its line number, from 0.",
        ),
    ] = None,
    mtme: Annotated[
        Path | None,
        typer.Option(help="mt-metrics-eval directory of the outputs: their texts, documents, domains."),
    ] = None,
    annotators: Annotated[
        Path | None, typer.Option(help="CSV or TSV with login and annotator: the person behind each login.")
    ] = None,
    lang_pair: Annotated[
        str | None, typer.Option(help="The language pair, where a campaign's file has several.")
    ] = None,
    margin: Annotated[
        float, typer.Option(help="Equivalence margin of two conditions, in errors per annotation.")
    ] = 0.5,
    alpha: Annotated[float, typer.Option(help="Level of the tests; intervals are at 1 - alpha.")] = 0.05,
    pause: Annotated[float, typer.Option(help="Seconds without a new start that are a pause.")] = 120.0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Error annotations: counts, severities, places, equivalence, attention checks, times.

    The folder of --out also gets judgements.csv, a table that ranking and agreement read.

    With --mtme it gets each condition's scores in human-scores/, as mt-metrics-eval has them.
    """
    from analysis.annotations.study import AnnotationOptions

    options = AnnotationOptions(margin, alpha, pause)

    from analysis.annotations.layout import as_report
    from analysis.annotations.records import as_document, as_records
    from analysis.commands.campaigns import CampaignFiles, read_study
    from analysis.commands.output import deliver

    files = CampaignFiles(tuple(campaign), batches, segments, mtme, annotators, lang_pair)
    study, report = read_study(files, options)
    deliver(
        "errors",
        as_report(study),
        as_records(study),
        as_document(study, report),
        out=out,
        as_json=as_json,
        more=[] if out is None else _write_scores(study, out),
    )


def _write_scores(study: AnnotationStudy, out: Path) -> list[str]:
    """Write the judgements, and the score files where the corpus is known; return what to say of them."""
    from analysis.annotations.judgements import judgement_rows, segment_scores
    from analysis.printing.render import to_csv
    from challenge_sets.files import atomic_file
    from challenge_sets.mtme_scores import write_segment_scores

    real = {name: study.real(name) for name in study.campaigns}
    rows = judgement_rows(real)
    files = {}
    for name, members in study.campaigns.items():
        if members[0].segments is not None:
            path = out / "human-scores" / f"{members[0].language_pair}.{name}.seg.score"
            files[path] = segment_scores(real[name], members[0].segments)
    said = []
    with ExitStack() as stack:
        if rows:
            table = out / "judgements.csv"
            stack.enter_context(atomic_file(table)).write(to_csv(list(rows[0]), rows))
            said.append(f"Judgements, for analysis ranking and analysis agreement: {table}")
        for path, scores in files.items():
            write_segment_scores(path, scores)
            said.append(f"Segment scores: {path}")
    return said
