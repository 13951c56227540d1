"""``python -m metrics judge-log``: what judges said, by what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from challenge_sets import InputError, Status
from challenge_sets.console import printable
from challenge_sets.files import dump_json
from metrics.llm.exchanges import without_keys
from metrics.llm.log import CALLS, CallLog, Entry


def judge_log(
    scores: Annotated[Path, typer.Option(help="Where judges scored, with their log.", metavar="DIR")],
    status: Annotated[
        str | None,
        typer.Option(help="Only answers of this status; default all but ok.", metavar="STATUS"),
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Only this judge, such as mqm.", metavar="NAME")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Most answers to show; 0 for none.", metavar="N")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object an answer, for scripts.")] = False,
) -> None:
    """Show raw answers by status: what did the judge say where it was not understood?"""
    if status is not None and status not in get_args(Status):
        raise InputError(f"there is no status '{status}'", hint=f"one of {', '.join(get_args(Status))}")
    path = scores / CALLS
    if not path.is_file():
        raise InputError("no judge was asked here", path=scores, hint=f"a run with a judge writes {CALLS}")
    log = CallLog(path, read_only=True)
    try:
        shown, counts = _chosen(log, status, judge, limit)
    finally:
        log.close()
    if judge is not None and not any(name == judge for name, _ in counts):
        known = ", ".join(sorted({name for name, _ in counts}))
        raise InputError(f"no judge '{judge}' was asked here", path=path, hint=f"there are: {known}")
    if as_json:
        for entry in shown:
            # In JSON all of these stand inside strings.
            print(printable(dump_json(_plain(entry))))
        return
    for (name, each), count in sorted(counts.items()):
        if judge in (None, name):
            print(f"{name}: {count} {each}")
    for entry in shown:
        print()
        print("\n".join(_lines(entry)))


def _chosen(
    log: CallLog, status: str | None, judge: str | None, limit: int
) -> tuple[list[Entry], Counter[tuple[str, str]]]:
    shown: list[Entry] = []
    counts: Counter[tuple[str, str]] = Counter()
    for entry in log.entries():
        name = _judge_of(entry)
        counts[name, entry.status] += 1
        wanted = entry.status == status if status is not None else entry.status != "ok"
        if wanted and judge in (None, name) and len(shown) < limit:
            shown.append(entry)
    return shown, counts


def _judge_of(entry: Entry) -> str:
    return entry.purpose.partition("|")[0]


def _plain(entry: Entry) -> dict[str, Any]:
    texts = {name: without_keys(getattr(entry, name)) for name in ("subject", "reason", "text")}
    return {"judge": _judge_of(entry), **asdict(entry), **texts}


def _lines(entry: Entry) -> Iterator[str]:
    reason = f": {_shown(entry.reason)}" if entry.reason else ""
    yield f"{_judge_of(entry)}, {entry.status}{reason}"
    yield f"  judged: {_shown(entry.subject)}"
    if not entry.text:
        yield "  it said nothing"
    for line in entry.text.split("\n") if entry.text else ():
        yield f"  | {_shown(line)}"


def _shown(text: str) -> str:
    return printable(without_keys(text)).replace("\n", "\\n")
