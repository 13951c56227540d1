"""``python -m analysis ranking``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.output import AsJson, Out


def ranking(
    mtme: Annotated[
        Path | None, typer.Option(help="Rank metrics: a directory laid out as in mt-metrics-eval.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help="Rank systems under several conditions: a CSV file condition,system,doc,segment,score and, "
            "if there, metric, annotator, domain.",
        ),
    ] = None,
    lang_pair: Annotated[str | None, typer.Option(help="Language pair, e.g. en-de (with --mtme).")] = None,
    gold: Annotated[
        str | None,
        typer.Option(
            help="Human scores: e.g. mqm with --mtme; with --table a name in metric (default human)."
        ),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Only these metrics: NAME or NAME-REFERENCE, by commas (with --mtme).")
    ] = None,
    statistic: Annotated[
        str | None,
        typer.Option(
            help="What metrics are clustered by: system-accuracy (default), soft-accuracy (slow), "
            "segment-accuracy, system-pearson or segment-pearson (with --mtme)."
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(help="Of two systems: permutation (default) or wilcoxon, as at WMT (with --table)."),
    ] = None,
    zero_method: Annotated[
        str | None,
        typer.Option(
            help="Segments on which two systems score the same, in Wilcoxon's test: wilcox (default, "
            "dropped), pratt or zsplit (with --table)."
        ),
    ] = None,
    tau_min: Annotated[
        str | None,
        typer.Option(
            help="Smallest acceptable tau between conditions, e.g. 2/3; 0.667 (default) is one that prints "
            "so (with --table)."
        ),
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(help="Resamples of documents (with --table; default 10000).")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="What permutations exchange as a whole: document (default: its scores are correlated) "
            "or segment."
        ),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(help="Number of permutations (default 1000 with --mtme, 10000 with --table)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of permutations and resamples.")] = 0,
    alpha: Annotated[float, typer.Option(help="Level of the tests that separate clusters.")] = 0.05,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """How well metrics rank systems and translations (--mtme), or how conditions rank systems (--table)."""
    # Options are checked first: a wrong one must not wait for large files to be read.
    from analysis.commands.options import check_count, check_level
    from challenge_sets import InputError

    if mtme is None and table is None:
        raise InputError(
            "nothing to rank",
            hint="--mtme DIR --lang-pair en-de --gold mqm for metrics, --table FILE for systems",
        )
    if mtme is not None and table is not None:
        raise InputError("ranking takes one of --mtme and --table, not both")
    check_count("--seed", seed, least=0)
    check_level("--alpha", alpha)
    if permutations is not None:
        check_count("--permutations", permutations)
    if mtme is not None:
        _refuse("--table", test=test, zero_method=zero_method, tau_min=tau_min, resamples=resamples)
        _rank_metrics(
            mtme, lang_pair, gold, metrics, statistic, by, permutations, seed, alpha, out=out, as_json=as_json
        )
    elif table is not None:
        _refuse("--mtme", lang_pair=lang_pair, metrics=metrics, statistic=statistic)
        if resamples is not None:
            check_count("--resamples", resamples, least=2)
        _rank_conditions(
            table,
            gold,
            test or "permutation",
            zero_method,
            tau_min or "0.667",
            resamples or 10_000,
            by,
            permutations,
            seed,
            alpha,
            out=out,
            as_json=as_json,
        )


def _refuse(needed: str, **options: object) -> None:
    """``InputError`` for an option given that means nothing without ``needed``."""
    from challenge_sets import InputError

    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name.replace('_', '-')} needs {needed}")


def _rank_metrics(
    mtme: Path,
    lang_pair: str | None,
    gold: str | None,
    metrics: str | None,
    statistic: str | None,
    by: str | None,
    permutations: int | None,
    seed: int,
    alpha: float,
    *,
    out: Path | None,
    as_json: bool,
) -> None:
    from analysis.commands.options import choice
    from analysis.ranking.exchange import Statistic
    from analysis.ranking.metrics_table import RankingOptions, Unit
    from challenge_sets import InputError

    if lang_pair is None or gold is None:
        raise InputError(
            "--mtme needs --lang-pair and --gold", hint="e.g. --mtme DIR --lang-pair en-de --gold mqm"
        )
    options = RankingOptions(
        permutations=permutations or 1000,
        seed=seed,
        by=choice("--by", by or "document", Unit),
        statistic=choice("--statistic", statistic or "system-accuracy", Statistic),
        alpha=alpha,
    )

    from analysis.commands.output import deliver
    from analysis.ranking.benchmark import read_benchmark
    from analysis.ranking.metrics_layout import as_report, notes
    from analysis.ranking.metrics_records import as_document, as_records
    from analysis.ranking.metrics_table import rank_metrics

    chosen = None if metrics is None else [name.strip() for name in metrics.split(",")]
    table = rank_metrics(read_benchmark(mtme, lang_pair, gold, chosen), options, source=str(mtme))
    deliver(
        "ranking",
        as_report(table),
        as_records(table),
        as_document(table),
        out=out,
        as_json=as_json,
        more=notes(table),
    )


def _rank_conditions(
    table: Path,
    gold: str | None,
    test: str,
    zero_method: str | None,
    tau_min: str,
    resamples: int,
    by: str | None,
    permutations: int | None,
    seed: int,
    alpha: float,
    *,
    out: Path | None,
    as_json: bool,
) -> None:
    from analysis.commands.options import choice
    from analysis.ranking.clusters import ClusterOptions, PairwiseTest, ZeroMethod
    from analysis.ranking.condition_table import ConditionOptions
    from analysis.ranking.metrics_table import Unit
    from analysis.statistics.rank import tau_threshold

    chosen = choice("--test", test, PairwiseTest)
    if chosen is PairwiseTest.WILCOXON:
        _refuse("--test permutation", by=by, permutations=permutations)
    else:
        _refuse("--test wilcoxon", zero_method=zero_method)
    options = ConditionOptions(
        gold=gold,
        tau_min=tau_threshold(tau_min),
        resamples=resamples,
        seed=seed,
        clusters=ClusterOptions(
            test=chosen,
            zero_method=choice("--zero-method", zero_method or "wilcox", ZeroMethod),
            by=choice("--by", by or "document", Unit),
            alpha=alpha,
            permutations=permutations or 10_000,
            seed=seed,
        ),
    )

    from analysis.commands.output import deliver
    from analysis.judgements import read_judgements
    from analysis.ranking.condition_layout import as_report, notes
    from analysis.ranking.condition_records import as_document, as_records
    from analysis.ranking.condition_table import rank_conditions

    judgements = read_judgements(table, optional=("condition", "metric", "annotator", "domain"))
    ranking = rank_conditions(judgements, options)
    deliver(
        "ranking",
        as_report(ranking),
        as_records(ranking),
        as_document(ranking),
        out=out,
        as_json=as_json,
        more=notes(ranking),
    )
