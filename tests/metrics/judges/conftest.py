"""A small conversation to judge, a judge whose answers are given by hand, and the command line in process."""

from __future__ import annotations

import csv
import json
import runpy
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scripted_actions import Action, ReceivedCall, ok
from scripted_scripts import Script
from scripted_server import ScriptedServer

from challenge_sets import ChallengeSet, Turn, console
from metrics.cli import app
from metrics.judges.options import JudgeOptions
from metrics.llm.log import CALLS
from metrics.llm.options import LlmOptions
from metrics.runner import MetricResult, score_set

SLEEPS, CAT, DREAMS, SHORT = "The dog sleeps.", "The cat sleeps.", "He dreams of cats.", "He dreams."


class Row(NamedTuple):
    """What a row of ``scores.csv`` says, by metric, pair and side."""

    value: float | None
    raw: float | None
    status: str
    reason: str


Rows = dict[tuple[str, str, str], Row]
Outcome = tuple[int, str, str]


@pytest.fixture
def conversation(
    write_set: Callable[..., ChallengeSet], translation: Callable, pair: Callable, tmp_path: Path
) -> Callable[..., ChallengeSet]:
    """``conversation(**fields)``: two turns of one document, a pair of each; ``birch`` translates, too.

    The four texts are ``SLEEPS`` and ``CAT`` (pair ``0-alder-0``), ``DREAMS`` and ``SHORT`` (``1-alder-0``).
    """

    def make(**fields: Any) -> ChallengeSet:
        first = {
            "source": "Der Hund schläft.",
            "reference": "The dog is asleep.",
            "context": (Turn("other", "Wo ist der Hund?", "10s ago"),),
            "position": 0,
        }
        second = {
            "source": "Er träumt von Katzen.",
            "reference": "It dreams about cats.",
            "context": (Turn("other", "Wo ist der Hund?", "20s ago"), Turn("self", "Der Hund schläft.")),
            "position": 1,
        }
        one = translation("0", SLEEPS, **first | {"doc": "d"} | fields)
        other = translation("1", DREAMS, **second | {"doc": "d"} | fields)
        standing_in = {"system": "birch", "doc": "d"}
        records = [
            one,
            translation("0", "A dog is sleeping.", **first | standing_in | fields),
            other,
            translation("1", "It is dreaming about cats.", **second | standing_in | fields),
            pair(one, CAT),
            pair(other, SHORT),
        ]
        return write_set(tmp_path / "set", records)

    return make


@pytest.fixture(scope="session")
def many(
    write_set: Callable[..., ChallengeSet], translation: Callable, pair: Callable
) -> Callable[..., ChallengeSet]:
    """``many(out, cells, **fields)``: so many different short texts, two a pair."""

    def make(out: Path, cells: int, **fields: Any) -> ChallengeSet:
        records = []
        for number in range(cells // 2):
            tested = translation(
                str(number), f"Text {number} is good.", reference=None, source=f"Satz {number}.", **fields
            )
            records += [tested, pair(tested, f"Text {number} is bad.")]
        return write_set(out, records)

    return make


@pytest.fixture(scope="session")
def answering() -> Callable[..., Script]:
    """``answering(by_text, then)``: what a judge says of the text that its last message holds.

    An answer is a string or an action; ``then`` has those of a second call, whose message holds the first
    answer. A message with none of the texts, or with several, is an error of the test.
    """

    def make(
        by_text: Mapping[str | tuple[str, ...], str | Action], then: Mapping[str, str | Action] | None = None
    ) -> Script:
        def script(call: ReceivedCall) -> Action:
            asked = call.last_user
            found = [each for each in by_text if all(text in asked for text in _texts(each))]
            assert len(found) == 1, f"{found} in {asked}"
            answer = by_text[found[0]]
            if then is not None and isinstance(answer, str) and answer.strip() in asked:
                answer = then[found[0]]  # type: ignore[index]
            return answer if isinstance(answer, Action) else ok(answer)

        return script

    return make


def _texts(each: str | tuple[str, ...]) -> tuple[str, ...]:
    return (each,) if isinstance(each, str) else each


@pytest.fixture(scope="session")
def options() -> Callable[..., JudgeOptions]:
    """``options(server, out, ...)``: fields of ``LlmOptions``, and ``samples``; not structured by default."""

    def make(server: ScriptedServer, out: Path, *, samples: int = 1, **fields: Any) -> JudgeOptions:
        known: dict[str, Any] = {"model": "m-1", "base_url": server.base_url, "structured": "off"}
        return JudgeOptions(LlmOptions(**known | fields), out / CALLS, samples)

    return make


@pytest.fixture(scope="session")
def judged(options: Callable[..., JudgeOptions]) -> Callable[..., list[MetricResult]]:
    """``judged(server, challenge_set, names, out, ...)`` scores in this process."""

    def score(
        server: ScriptedServer,
        challenge_set: ChallengeSet,
        names: str | list[str],
        out: Path,
        *,
        pseudo_reference: str | None = None,
        **fields: Any,
    ) -> list[MetricResult]:
        listed = [names] if isinstance(names, str) else names
        judge = options(server, out, **fields)
        return score_set(challenge_set, listed, out, pseudo_reference=pseudo_reference, judge=judge)

    return score


@pytest.fixture(scope="session")
def rows() -> Callable[[Path], Rows]:
    """The rows of ``scores.csv`` in a directory."""

    def read(out: Path) -> Rows:
        with (out / "scores.csv").open(encoding="utf-8", newline="") as stream:
            return {
                (row["metric"], row["pair"], row["side"]): Row(
                    *(float(row[name]) if row[name] else None for name in ("value", "raw")),  # type: ignore[arg-type]
                    row["status"],
                    row["reason"],
                )
                for row in csv.DictReader(stream)
            }

    return read


@pytest.fixture(scope="session")
def marked() -> Callable[[Path], list[dict[str, Any]]]:
    """The lines of ``errors.jsonl`` in a directory."""

    def read(out: Path) -> list[dict[str, Any]]:
        text = (out / "errors.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    return read


@pytest.fixture
def metrics_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """``metrics_command(*arguments)``: exit code, stdout and stderr of the command, run in this process."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["metrics", *map(str, arguments)])
        capsys.readouterr()
        code: Any = 0
        try:
            console.run(app)
        except SystemExit as left:
            code = left.code or 0
        out, err = capsys.readouterr()
        return int(code), out, err

    return run


@pytest.fixture(scope="session")
def hostile_texts() -> dict[str, str]:
    """Translations that try to pass for an answer, by what they try."""
    texts: dict[str, str] = runpy.run_path(str(Path(__file__).with_name("hostile.py")))["HOSTILE_TEXTS"]
    return texts


@pytest.fixture
def price_file(tmp_path: Path) -> Path:
    """Prices of ``m-1``: 2 for a million tokens in, 10 for a million out, in EUR."""
    path = tmp_path / "prices.toml"
    path.write_text('currency = "EUR"\n[models."m-1"]\ninput = 2.0\noutput = 10.0\n', encoding="utf-8")
    return path
