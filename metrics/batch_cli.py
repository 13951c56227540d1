"""``python -m metrics batch``: where the batches of a judge stand, and their answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from challenge_sets.console import EXIT_MISSING_CELLS
from challenge_sets.errors import InputError
from challenge_sets.files import dump_json
from metrics import judge_options as options
from metrics.llm.options import OPENAI

if TYPE_CHECKING:
    from metrics.llm.batch_log import BatchLog
    from metrics.llm.batch_records import Batch, Collected

app = typer.Typer(
    no_args_is_help=True,
    help="Judge in batches: submit, look where they stand, collect. Exit codes: 0 done, 2 wrong use, "
    "3 something failed, is missing, or could not be asked for.",
)

Out = Annotated[
    Path, typer.Option("--out", help="The directory that the batches were submitted from.", metavar="DIR")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@app.command("submit")
def submit(
    set_dir: Annotated[Path, typer.Option("--set", help="The set directory.", metavar="DIR")],
    metrics: Annotated[str, typer.Option(help="Names of judges, separated by commas.", metavar="A,B")],
    out: Annotated[
        Path, typer.Option(help="Where the scores will go; the log of calls is kept there.", metavar="DIR")
    ],
    model: options.Model = None,
    pseudo_reference: Annotated[
        str | None,
        typer.Option(
            help="Take this system's translation of the same item as the reference.", metavar="SYSTEM"
        ),
    ] = None,
    base_url: options.BaseUrl = OPENAI,
    api_key_env: options.ApiKeyEnv = None,
    temperature: options.Temperature = 0.0,
    max_tokens: options.MaxTokens = None,
    param: options.Param = None,
    dialect: options.DialectOption = "auto",
    structured: options.StructuredOption = "auto",
    samples: options.Samples = 1,
    timeout: options.Timeout = 120.0,
    max_cost: options.MaxCost = None,
    prices: options.PricesOption = None,
    as_json: Json = False,
) -> None:
    """Submit what the judges still need for a set; what is answered, or waits in a batch, is left out."""
    from challenge_sets.sets import ChallengeSet
    from metrics.batch_run import submit_set

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
        concurrency=1,
        timeout=timeout,
        max_cost=max_cost,
        prices=prices,
        asks=True,
    )
    if judge is None:
        raise InputError("a batch needs a model to ask", hint="--model NAME, and --base-url URL")
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    batches = submit_set(ChallengeSet(set_dir), names, out, judge, pseudo_reference=pseudo_reference)
    if as_json:
        print(dump_json({"submitted": [batch.to_json() for batch in batches]}))
        return
    for batch in batches:
        print(f"{batch.name}  {batch.remote}  {batch.requests} calls")
    if batches:
        print(f"collect when they are done: python -m metrics batch collect --out {out}")
    else:
        print("nothing to submit: every call is answered or waits in a batch")


@app.command("status")
def status(out: Out, as_json: Json = False) -> None:
    """Ask where every batch stands: name, id, state, requests done, age."""
    from metrics.llm.batch_collecting import refresh
    from metrics.llm.batch_records import BATCH_FOLDER

    with _opened(out) as log:
        batches = refresh(log, out / BATCH_FOLDER)
    if as_json:
        print(dump_json({"batches": [batch.to_json() for batch in batches]}))
    else:
        for batch in batches:
            print(_line(batch))
            for told in filter(None, (batch.note, batch.trouble)):
                print(f"  {told}")
        ended = sum(batch.state == "ended" for batch in batches)
        if ended:
            print(f"{ended} to collect: python -m metrics batch collect --out {out}")
    if any(batch.trouble for batch in batches):
        sys.exit(EXIT_MISSING_CELLS)


@app.command("collect")
def collect(
    out: Out,
    forget: Annotated[
        list[str] | None,
        typer.Option(
            help="Give a batch up that cannot be collected, so that its calls can be submitted again; "
            "may be given several times.",
            metavar="NAME",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fetch the answers of every batch that is over; whatever has none can be submitted again."""
    from metrics.llm.batch_collecting import collect as collect_all
    from metrics.llm.batch_records import BATCH_FOLDER

    with _opened(out) as log:
        collected = collect_all(log, out / BATCH_FOLDER, forget or ())
        going_on = [batch for batch in log.batches(unfinished=True) if batch.state != "ended"]
    going_on = [batch for batch in going_on if batch.name not in {each.batch.name for each in collected}]
    if as_json:
        plain = {"collected": [each.to_json() for each in collected]}
        print(dump_json(plain | {"going_on": [batch.to_json() for batch in going_on]}))
    else:
        for line in _told(collected, going_on, out):
            print(line)
    if any(each.unanswered or each.trouble for each in collected):
        sys.exit(EXIT_MISSING_CELLS)


@contextmanager
def _opened(out: Path) -> Iterator[BatchLog]:
    from metrics.llm.batch_log import BatchLog
    from metrics.llm.log import CALLS

    log = BatchLog(out / CALLS) if (out / CALLS).is_file() else None
    try:
        if log is None or not log.batches():
            raise InputError(
                "no batch was ever submitted from here",
                path=out,
                hint="submit with python -m metrics batch submit --out DIR, and give the same DIR",
            )
        yield log
    finally:
        if log is not None:
            log.close()


def _line(batch: Batch) -> str:
    counts = f"{batch.completed} answered, {batch.failed} failed of {batch.requests}"
    return f"{batch.name}  {batch.remote or '-'}  {batch.shown}  {counts}  {_age(batch.since)}"


def _age(since: float) -> str:
    minutes = max(0, int(time.time() - since)) // 60
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes < 2880 else f"{minutes // 1440} days"


def _told(collected: list[Collected], going_on: list[Batch], out: Path) -> Iterator[str]:
    for each in collected:
        name = each.batch.name
        if each.trouble:
            yield f"{name}: not collected: {each.trouble}"
            continue
        parts = [f"{each.answered} answered", f"{sum(each.refused.values())} failed"]
        parts += [f"{each.missing} without a line"] if each.missing else []
        parts += [f"{each.free} not asked"] if each.free else []
        yield f"{name} ({each.batch.status or 'not submitted'}): {', '.join(parts)}"
        if each.batch.note:
            yield f"  {each.batch.note}"
        for reason, count in each.refused.items():
            yield f"  {count} × {reason}"
        odd = {"of unknown calls": each.unknown, "repeated": each.repeated, "broken": each.broken}
        if any(odd.values()):
            said = ", ".join(f"{count} {kind}" for kind, count in odd.items() if count)
            yield f"  lines left aside: {said}"
        if each.bill.currency:
            unpriced = f", {each.bill.unpriced} calls of unknown cost" if each.bill.unpriced else ""
            yield f"  cost {each.bill.cost:.4f} {each.bill.currency}{unpriced}"
    for batch in going_on:
        yield f"{batch.name}: {batch.shown}, {batch.completed} of {batch.requests} answered"
    unanswered = sum(each.unanswered for each in collected)
    if going_on:
        command = f"python -m metrics batch collect --out {out}"
        yield f"{len(going_on)} batches go on; collect again later: {command}"
    if unanswered:
        yield f"{unanswered} calls have no answer: the same batch submit again submits them alone"
    elif not collected and not going_on:
        yield "nothing is left to collect"
    elif not going_on and not any(each.trouble for each in collected):
        yield "all answers are in: score with the same --out"
        yield "  (gemba-esa asks twice: submit again before, or its second calls are asked directly)"
