"""``python -m metrics``: score a set, list the metrics."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from challenge_sets.console import EXIT_MISSING_CELLS, printable
from challenge_sets.errors import InputError
from challenge_sets.files import dump_json
from metrics import judge_options as options
from metrics.batch_cli import app as batch_app
from metrics.judge_log import judge_log
from metrics.llm.options import OPENAI

if TYPE_CHECKING:
    from challenge_sets.sets import ChallengeSet
    from metrics.base import Account, Metric
    from metrics.judges.options import JudgeOptions
    from metrics.llm.prices import Bill
    from metrics.runner import MetricResult

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Score both sides of every pair of a set. Exit codes: 0 done, 2 wrong input, "
    "3 some cells have no score.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@app.command("score")
def score(
    set_dir: Annotated[Path, typer.Option("--set", help="The set directory.", metavar="DIR")],
    metrics: Annotated[str, typer.Option(help="Names of metrics, separated by commas.", metavar="A,B")],
    out: Annotated[Path, typer.Option(help="Where scores.csv, scores.json and the store go.", metavar="DIR")],
    pseudo_reference: Annotated[
        str | None,
        typer.Option(
            help="Take this system's translation of the same item as the reference.", metavar="SYSTEM"
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: all processors.", metavar="N")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be scored; write nothing.")
    ] = False,
    as_json: Json = False,
    device: Annotated[
        str,
        typer.Option(
            help="Where models run: auto, cpu, mps, cuda (all), cuda:N, or several with commas.",
            rich_help_panel="Models",
        ),
    ] = "auto",
    precision: Annotated[
        str, typer.Option(help="Number format of the weights: fp32, bf16 or fp16.", rich_help_panel="Models")
    ] = "fp32",
    revision: Annotated[
        str | None,
        typer.Option(
            help="Commit, tag or branch of the checkpoint.", metavar="REV", rich_help_panel="Models"
        ),
    ] = None,
    batch_tokens: Annotated[
        int | None,
        typer.Option(help="Padded tokens a batch; default by device.", metavar="N", rich_help_panel="Models"),
    ] = None,
    overlong: Annotated[
        str,
        typer.Option(
            help="Texts beyond the limit: exclude (status 'truncated'), window (the mean over overlapping "
            "windows) or error (refuse before scoring).",
            rich_help_panel="Models",
        ),
    ] = "exclude",
    previous: Annotated[
        int, typer.Option(help="Segments of context for doc-ref: and doc-hyp:.", rich_help_panel="Models")
    ] = 2,
    window: Annotated[int, typer.Option(help="Segments a window of slide:.", rich_help_panel="Models")] = 6,
    stride: Annotated[
        int, typer.Option(help="Segments from one window of slide: to the next.", rich_help_panel="Models")
    ] = 6,
    mode: Annotated[
        str,
        typer.Option(
            help="How judges are asked: direct, or batch (cheaper, within a day; waits until it is done).",
            rich_help_panel="Judges",
        ),
    ] = "direct",
    model: options.Model = None,
    base_url: options.BaseUrl = OPENAI,
    api_key_env: options.ApiKeyEnv = None,
    temperature: options.Temperature = 0.0,
    max_tokens: options.MaxTokens = None,
    param: options.Param = None,
    dialect: options.DialectOption = "auto",
    structured: options.StructuredOption = "auto",
    samples: options.Samples = 1,
    concurrency: options.Concurrency = 16,
    timeout: options.Timeout = 120.0,
    max_cost: options.MaxCost = None,
    prices: options.PricesOption = None,
) -> None:
    """Score a set with one or more metrics; a rerun asks only for what is missing."""
    from challenge_sets.sets import ChallengeSet
    from metrics.requests import ModelOptions
    from metrics.runner import plan_set, score_set

    names = [name.strip() for name in metrics.split(",") if name.strip()]
    if mode not in ("direct", "batch"):
        raise InputError(f"mode is '{mode}', it is direct or batch")
    if out.exists() and not out.is_dir():
        raise InputError("a file stands where a directory is needed", path=out)
    neural = ModelOptions(
        device=device,
        precision=precision,  # type: ignore[arg-type]  # checked there
        revision=revision,
        batch_tokens=batch_tokens,
        overlong=overlong,  # type: ignore[arg-type]
        previous=previous,
        window=window,
        stride=stride,
        download=not dry_run,
    )
    judge = options.judge_options(
        out,
        model=model,
        base_url=base_url,
        api_key_env=api_key_env,
        temperature=temperature,
        max_tokens=max_tokens,
        param=param,
        dialect=dialect,
        structured=structured,
        samples=samples,
        concurrency=concurrency,
        timeout=timeout,
        max_cost=max_cost,
        prices=prices,
        asks=not dry_run,
        batched=mode == "batch",
    )
    challenge_set = ChallengeSet(set_dir)
    if mode == "batch" and not dry_run:
        judge = _answered_in_batches(challenge_set, names, out, judge, pseudo_reference)
    if dry_run:
        results = plan_set(
            challenge_set, names, out, pseudo_reference=pseudo_reference, model=neural, judge=judge
        )
    else:
        results = score_set(
            challenge_set,
            names,
            out,
            pseudo_reference=pseudo_reference,
            workers=workers,
            model=neural,
            judge=judge,
        )
    files = [] if dry_run else [str(out / name) for name in ("scores.csv", "scores.json")]
    if as_json:
        print(
            dump_json({"dry_run": dry_run, "files": files, "metrics": [each.to_json() for each in results]})
        )
    else:
        for line in (*files, *_summary(results, dry_run)):
            print(line)
    if any(each.missing for each in results):
        sys.exit(EXIT_MISSING_CELLS)


def _answered_in_batches(
    challenge_set: ChallengeSet,
    names: list[str],
    out: Path,
    judge: JudgeOptions | None,
    pseudo_reference: str | None,
) -> JudgeOptions:
    """Have everything answered; the options to score with afterwards, which ask for nothing more."""
    from metrics.batch_run import answer_in_batches

    if judge is None:
        raise InputError("a batch needs a model to ask", hint="--model NAME, and --base-url URL")
    answer_in_batches(challenge_set, names, out, judge, pseudo_reference=pseudo_reference)
    return replace(judge, asks=False)


def _summary(results: list[MetricResult], dry_run: bool) -> list[str]:
    lines = []
    for each in results:
        tally = each.tally
        name = f"{each.about.name} [{each.about.target_lang}]"
        if each.about.sentinel:
            name += " (sentinel)"
        if dry_run:
            lines.append(
                f"{name}: {tally.to_score} texts to score ({tally.characters} characters), "
                f"{tally.from_store} from the store, {tally.duplicates} duplicates"
            )
            if tally.screened:
                lines.append(
                    f"  {tally.screened} of them will get no score: too long, or without a reference"
                )
            if tally.forecast is not None:
                lines.append(f"  {_estimated(tally.forecast)}")
            continue
        counts = ", ".join(f"{count} {status}" for status, count in each.counts.items())
        lines.append(
            f"{name}: {counts}; {each.blind_pairs} pairs blind by construction; "
            f"{tally.to_score} scored, {tally.from_store} from the store, {tally.duplicates} duplicates"
        )
        if each.missing:
            lines.append(f"  {each.missing} cells have no score; the column 'reason' says why")
        if each.unknown_tokens:
            lines.append(
                f"  {each.unknown_tokens} tokens are unknown to the model; 'reason' says in which texts"
            )
        if each.account is not None:
            lines += [f"  {line}" for line in _accounted(each.account)]
        if each.about.pseudo_reference is not None:
            lines.append(f"  pseudo-reference: {each.about.pseudo_reference}")
    return lines


def _estimated(bill: Bill) -> str:
    tokens = f"about {bill.input_tokens} tokens in, {bill.output_tokens} out (thinking not counted)"
    return f"{bill.calls} calls, {tokens}, {_cost(bill, 'about ')}"


def _accounted(account: Account) -> Iterator[str]:
    bill = account.bill
    thought = f" (of which {bill.reasoning_tokens} thought)" if bill.reasoning_tokens else ""
    tokens = f"{bill.input_tokens} tokens in, {bill.output_tokens} out{thought}"
    yield f"this run: {bill.calls} calls in {bill.attempts} attempts, {tokens}, {_cost(bill, '')}"
    for model, (calls, seconds) in account.models.items():
        named = printable(model) or "a model without a name"
        yield f"answered by {named}: {calls} calls, {seconds:.1f} s each"
    if account.hazards:
        kinds = ", ".join(f"{kind} {count}" for kind, count in account.hazards.items() if kind != "any")
        yield f"{account.hazards['any']} answers are about texts that could mislead a judge: {kinds}"


def _cost(bill: Bill, about: str) -> str:
    if bill.unpriced == bill.calls and bill.calls:
        return "no price known (--prices)"
    unknown = f", {bill.unpriced} calls without a known cost" if bill.unpriced else ""
    return f"cost {about}{bill.cost:.4f} {bill.currency}".rstrip() + unknown


@app.command("export")
def export(
    set_dir: Annotated[Path, typer.Option("--set", help="The set directory.", metavar="DIR")],
    scores: Annotated[Path, typer.Option(help="The scores of that set.", metavar="DIR")],
    out: Annotated[Path, typer.Option(help="Where metric-scores/ is made.", metavar="DIR")],
) -> None:
    """Write the scores of the undamaged translations as mt-metrics-eval segment score files."""
    from challenge_sets.sets import ChallengeSet
    from metrics.export import export_mtme

    for path in export_mtme(ChallengeSet(set_dir), scores, out):
        print(path)


app.command("judge-log")(judge_log)
app.add_typer(batch_app, name="batch")


@app.command("list")
def list_metrics(as_json: Json = False) -> None:
    """List the metrics: what each needs, its direction, and what to install for it."""
    from metrics.registry import METRICS

    entries = [_entry(METRICS[name]) for name in METRICS]
    if as_json:
        print(dump_json(entries, indent=1))
        return
    for entry in entries:
        direction = "higher is better" if entry["higher_is_better"] else "lower is better"
        kind = "sentinel" if entry["sentinel"] else "metric"
        needs = ", ".join(entry["needs"]) or "nothing else"
        print(f"{entry['name']} ({kind}, {entry['unit']}, needs {needs}, {direction})")
        print(f"    {entry['description']}")
        if entry["model"] is not None:
            print(f"    {_spelled(entry['model'], entry['limit'])}")
        for install in entry["install"]:
            where = f"for {', '.join(install['languages'])}: " if install["languages"] else ""
            state = "installed" if install["available"] else "not installed"
            print(f"    {where}{install['command']} ({state})")
    print("any other checkpoint, by hub id or path: comet:ID, comet-ref:ID, comet-qe:ID, metricx:ID, …")
    print("a neural metric on documents: doc-ref:NAME, doc-hyp:NAME (context before each segment),")
    print("    whole:NAME (the document as one text), slide:NAME (a window over the document)")
    print("a judge by a prompt set of your own: judge:DIR")


def _spelled(model: dict[str, Any], limit: int) -> str:
    gate = "gated: accept the licence at the hub first" if model["gated"] else "not gated"
    size = f"{model['parameters'] / 1e9:.2g} B weights, {model['memory_gb']:.2g} GB in fp32"
    return f"{size}, reads {limit} tokens; {model['licence']}, {gate}"


def _entry(metric: type[Metric]) -> dict[str, Any]:
    from metrics.base import NEEDS

    return {
        "name": metric.name,
        "sentinel": metric.sentinel,
        "unit": metric.unit,
        "needs": [need for need in NEEDS if need in metric.needs],
        "higher_is_better": metric.higher_is_better,
        "limit": metric.limit,
        "model": metric.model_card(),
        "description": metric.description,
        "install": [
            {
                "extra": install.extra,
                "languages": list(install.languages),
                "command": f'pip install "mt-blindspots[{install.extra}]"',
                "available": install.available,
            }
            for install in metric.installs()
        ],
    }
