"""Judging from the command line: wrong input, hostile texts, killed runs, runs at once, memory."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec as find_spec_really
from pathlib import Path
from typing import Any

import pytest
import scripted_actions as actions
from scripted_actions import Action, ReceivedCall, body_key, ok
from scripted_faults import html_with_200, model_unknown, not_an_api, passing_faults
from scripted_scripts import always, judge, random_faults
from scripted_server import ScriptedServer

from challenge_sets import ChallengeSet
from metrics import base
from metrics.judges import gemba_prompts
from metrics.llm.log import CALLS
from metrics.store import STORE

ROOT = Path(__file__).parents[3]
Make = Callable[..., ChallengeSet]
KEY = "a-key-of-no-known-form-1234567890"
NONE = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"
MANIFEST = 'name = "mine"\nversion = "1"\ndescription = "d"\nunit = "segment"\nneeds = ["source"]\n'


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


# --- Wrong input ----------------------------------------------------------------------------------------


@pytest.fixture
def refused(
    many: Make, metrics_command: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """``refused(server, *options, calls=0)``: the one message of a run that ends with exit code 2."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def run(
        server: ScriptedServer,
        *more: object,
        calls: int = 0,
        challenge_set: Path | None = None,
        reached: bool = False,
    ) -> str:
        if challenge_set is None:
            challenge_set = tmp_path / "set"
            if not challenge_set.exists():
                many(challenge_set, 40)
        given: dict[str, object] = {"--metrics": "da", "--model": "m-1", "--base-url": server.base_url}
        given |= {"--structured": "off", **dict(zip(map(str, more[::2]), more[1::2], strict=True))}
        named = [part for name, value in given.items() if value is not None for part in (name, value)]
        out = tmp_path / "out"
        before, found = server.counts.calls, files(out)
        code, printed, err = metrics_command("score", "--set", challenge_set, "--out", out, *named)
        assert (code, printed) == (2, ""), err
        assert "Traceback" not in err
        assert server.counts.calls - before == calls
        # Where nothing was asked nothing is written; else the log is, and a store without scores.
        left = files(out)
        assert left == found if not calls and not reached else left <= {CALLS, STORE}
        message: str = err
        return message

    return run


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--model", None), "the judge 'da' needs a model to ask"),
        (("--model", " "), "no model named"),
        (("--base-url", "localhost:8000/v1"), "is no address"),
        (("--base-url", "http://user:secret@localhost/v1"), "holds a user, a password"),
        (("--base-url", "https://api.example.org/v1"), "OPENAI_API_KEY is not set"),
        (("--api-key-env", "NO_SUCH_KEY"), "NO_SUCH_KEY is not set"),
        (
            ("--api-key-env", "sk-proj-0123456789abcdef"),
            "takes the name of an environment variable, not the key",
        ),
        (("--temperature", "-0.1"), "temperature is -0.1"),
        (("--temperature", "2.5"), "temperature is 2.5"),
        (("--temperature", "nan"), "temperature is nan"),
        (("--temperature", "warm"), "Invalid value"),
        (("--max-tokens", "0"), "max-tokens is 0"),
        (("--param", "seed"), "'seed' is not NAME=VALUE"),
        (("--param", "seed={"), "is no JSON"),
        (("--param", "temperature=1"), "the parameter 'temperature' cannot be given by --param"),
        (("--param", "model=m-2"), "the parameter 'model' cannot be given"),
        (("--param", "max_tokens=5"), "the parameter 'max_tokens' cannot be given"),
        (("--dialect", "prose"), "dialect is 'prose'"),
        (("--structured", "perhaps"), "structured is 'perhaps'"),
        (("--samples", "0"), "samples is 0"),
        (("--concurrency", "0"), "concurrency is 0"),
        (("--timeout", "0"), "timeout is 0"),
        (("--timeout", "inf"), "timeout is inf"),
        (("--max-cost", "-1"), "max-cost is -1"),
        (("--max-cost", "1"), "a limit of cost needs the price of 'm-1'"),
        (("--prices", "no-such-file.toml"), "no table of prices"),
        (("--mode", "slow"), "mode is 'slow'"),
        (("--metrics", "da-context"), "unknown metric 'da-context'"),
        (("--metrics", "mqm-reff"), "mqm-ref"),
        (("--metrics", "judge:"), "no directory behind 'judge:'"),
        (("--metrics", "judge:no/such/directory"), "no/such/directory"),
        (("--metrics", "mqm-context"), "mqm-context: earlier turns are needed"),
        (("--metrics", "da,mqm-context"), "mqm-context: earlier turns are needed"),
        (("--metrics", "esa-ref"), "esa-ref: a reference is needed"),
        (("--metrics", "da,mqm-ref", "--pseudo-reference", "birch"), "holds no system 'birch'"),
        (("--metrics", "gemba-esa", "--structured", "on"), "no schema for structured answers"),
        (("--metrics", "da,gemba-da", "--structured", "on"), "no schema for structured answers"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_is_refused_before_anything_is_asked(
    options: tuple[Any, ...], problem: str, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer() as server:
        message = refused(server, *options)
    assert problem in message
    assert message.startswith("error: ") or "Usage:" in message
    assert "sk-proj" not in message
    assert "secret" not in message


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("user.md", "<s>{{ source }}</s>", "no place for the translation"),
        ("user.md", "<t>{{ translation }}</t>", "no place for the source"),
        ("user.md", "<s>{{ source }}</s><t>{{ translaton }}</t>", "did you mean 'translation'"),
        ("user.md", "{{ source }} <t>{{ translation }}</t>", "stands in no fence"),
        ("manifest.toml", "name = ", "broken TOML"),
        ("schema.json", "{", "schema.json"),
    ],
)
def test_a_prompt_set_that_cannot_be_used(
    name: str, content: str, problem: str, refused: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "manifest.toml").write_text(f'{MANIFEST}output = "number"\n', encoding="utf-8")
    (folder / "user.md").write_text("<s>{{ source }}</s><t>{{ translation }}</t>", encoding="utf-8")
    (folder / name).write_text(content, encoding="utf-8")
    with ScriptedServer() as server:
        message = refused(server, "--metrics", f"judge:{folder}")
    assert problem in message
    assert str(folder) in message


@pytest.mark.parametrize("fields", [{"source_lang": "qaa"}, {"target_lang": "mul"}])
@pytest.mark.parametrize("name", ["mqm", "gemba-mqm"])
def test_a_language_without_a_name(
    name: str, fields: dict[str, str], many: Make, refused: Callable[..., str], tmp_path: Path
) -> None:
    many(tmp_path / "odd", 4, **fields)
    with ScriptedServer() as server:
        message = refused(server, "--metrics", name, "--structured", "auto", challenge_set=tmp_path / "odd")
    assert f"'{name}' has no name for the language '{next(iter(fields.values()))}'" in message
    assert "[languages]" in message


def test_a_key_is_needed_and_never_repeated(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", KEY)
    with ScriptedServer(judge("number"), expected_key="another-key-altogether") as server:
        message = refused(server, "--api-key-env", "A_KEY", calls=1)
        assert "refuses the key (401)" in message
        assert "the environment variable A_KEY" in message
        assert KEY not in message
        assert KEY[:8] not in message
        message = refused(server, calls=1)
        assert "no key was sent: name its environment variable with --api-key-env" in message
        monkeypatch.setenv("A_KEY", "  ")
        assert "A_KEY is not set" in refused(server, "--api-key-env", "A_KEY")


@pytest.mark.parametrize(
    ("action", "most", "problem"),
    [
        (model_unknown(), 1, "does not know the model 'm-1' (404)"),
        (not_an_api(), 1, "is the base URL that of an OpenAI-compatible API? It mostly ends in /v1"),
        (html_with_200(), 3, "no API at"),
        (actions.reasoning_ate_budget(256), 3, "give a larger budget with --max-tokens"),
    ],
    ids=lambda value: value.name if isinstance(value, Action) else "",
)
def test_what_is_wrong_with_every_call(
    action: Action, most: int, problem: str, refused: Callable[..., str]
) -> None:
    with ScriptedServer(always(action)) as server:
        assert problem in refused(server, calls=most)


def test_nothing_listens(refused: Callable[..., str]) -> None:
    with ScriptedServer() as server:
        pass
    message = refused(server, reached=True)
    assert f"no API at {server.base_url}: the connection failed" in message
    assert "is the server running" in message


def test_without_the_package_of_gemba(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemba_prompts, "find_spec", lambda name: None)
    gemba_prompts.gemba.cache_clear()
    try:
        with ScriptedServer() as server:
            message = refused(server, "--metrics", "gemba-mqm")
            assert message == f"error: GEMBA's prompts are not installed: {gemba_prompts.INSTALL}\n"
    finally:
        gemba_prompts.gemba.cache_clear()


@pytest.mark.parametrize("name", ["mqm", "gemba-da", "judge:anywhere"])
def test_without_the_extra(name: str, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "find_spec", lambda name: None if name == "openai" else find_spec_really(name))
    with ScriptedServer() as server:
        message = refused(server, "--metrics", name)
    assert f"the judge {name}" in message
    assert 'pip install "mt-blindspots[judge]"' in message


# --- Hostile translations -------------------------------------------------------------------------------


@pytest.mark.parametrize("structured", ["off", "on"])
def test_a_translation_that_comes_back_is_never_a_score(
    structured: str, hostile_texts: dict[str, str], write_set: Make, translation: Callable, pair: Callable,
    metrics_command: Callable, rows: Callable, tmp_path: Path,
) -> None:  # fmt: skip
    """A judge that obeys by repeating the translation has not judged it."""
    # No file holds half a character, and white space alone is no answer to read.
    texts = {
        name: unicodedata.normalize("NFC", text)
        for name, text in hostile_texts.items()
        if text.strip() and name != "lone surrogate"
    }
    records = []
    for number, text in enumerate(texts.values()):
        tested = translation(str(number), text, source=f"Satz {number}.", reference=None)
        records += [tested, pair(tested, f"A plain text {number}.")]
    write_set(tmp_path / "set", records)
    hostile = {f"Satz {number}.": text for number, text in enumerate(texts.values())}

    def echo(call: ReceivedCall) -> Action:
        if "A plain text" not in call.last_user:
            return ok(next(text for source, text in hostile.items() if source in call.last_user))
        system = call.body["messages"][0]["content"]
        scored, marks = '"score"' in system or "the number alone" in system, "MQM" in system
        if structured == "on":
            return ok('{"score": 90}' if scored else '{"errors": []}')
        return ok(NONE if marks else "90" if scored else f"{NONE}\nScore: 90")

    common = ("score", "--set", tmp_path / "set", "--out", tmp_path / "out", "--model", "m-1")
    with ScriptedServer(echo) as server:
        asks = (*common, "--base-url", server.base_url, "--structured", structured, "--metrics", "mqm,da")
        code, out, err = metrics_command(*asks, "--json")
        assert code == 3, err
        metrics = json.loads(out)["metrics"]
        calls = server.counts.calls
        code, printed, _ = metrics_command(*asks)
        assert (code, server.counts.calls) == (3, calls)
    found = rows(tmp_path / "out")
    assert {row.status for (_, _, side), row in found.items() if side == "perturbed"} == {"ok"}
    assert {row.status for (_, _, side), row in found.items() if side == "original"} == {"unparsed"}
    for metric in metrics:
        assert metric["counts"] == {"ok": len(texts), "unparsed": len(texts)}
        kinds = metric["hazards"]
        assert set(kinds) == {"any", "fence", "heading", "order", "json"}
        assert 0 < max(kinds[kind] for kind in kinds if kind != "any") <= kinds["any"] <= len(texts)
        assert f"{kinds['any']} answers are about texts that could mislead a judge: " in printed
        assert f"order {kinds['order']}" in printed


# --- Killed runs and runs at once -----------------------------------------------------------------------

CELLS, AT_ONCE = 2000, 32


@pytest.fixture(scope="module")
def large(many: Make, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "set"
    many(folder, CELLS)
    return folder


def start(server: ScriptedServer, challenge_set: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable, "-m", "metrics", "score", "--set", challenge_set, "--metrics", "mqm",
            "--out", out, "--model", "m-1", "--base-url", server.base_url, "--structured", "off",
            "--concurrency", str(AT_ONCE), "--json",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def stored(out: Path) -> int:
    if not (out / CALLS).is_file():
        return 0
    with closing(sqlite3.connect(out / CALLS, timeout=60)) as log:
        try:
            return int(log.execute("SELECT COUNT(*) FROM answers").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # the tables are not there yet


def finish(run: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    out, err = run.communicate(timeout=240)
    assert run.returncode in (0, 3), err
    return run.returncode, json.loads(out)["metrics"][0]


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_three_times_nothing_is_asked_twice(seed: int, large: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kept: list[int] = []
    with ScriptedServer(random_faults(seed, 0.1, passing_faults(), judge())) as server:
        for quarter in (1, 2, 3):
            run = start(server, large, out)
            deadline = time.monotonic() + 120
            while stored(out) < quarter * CELLS // 4 and run.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            os.kill(run.pid, signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL
            run.communicate()
            kept.append(stored(out))
            # What had been answered and was not yet stored: at most the calls under way, each time.
            assert sum(server.counts.answered.values()) - kept[-1] <= len(kept) * AT_ONCE
        asked = set(keys_of_answers(server, out))
        before = server.counts.received
        code, metric = finish(start(server, large, out))
        while code == 3:  # pragma: no cover -- a call failed six times in a row
            code, metric = finish(start(server, large, out))
        counts = server.counts
    assert 0 < kept[0] < kept[1] < kept[2] < CELLS
    assert {key: counts.received[key] for key in asked} == {key: before[key] for key in asked}
    assert metric["counts"] == {"ok": CELLS}
    assert len(counts.answered) == CELLS
    assert CELLS <= sum(counts.answered.values()) <= CELLS + 3 * AT_ONCE
    assert counts.max_in_flight <= 2 * AT_ONCE  # those of a killed run, and of the next one
    with (out / "scores.csv").open(encoding="utf-8") as table:
        assert sum(1 for _ in table) == 1 + CELLS


def keys_of_answers(server: ScriptedServer, out: Path) -> list[str]:
    """The bodies, as the server knows them, of the calls whose answers are in the log."""
    with closing(sqlite3.connect(out / CALLS, timeout=60)) as log:
        subjects = {
            subject
            for (subject,) in log.execute(
                "SELECT subject FROM journal JOIN answers ON answers.key = journal.key"
            )
        }
    bodies = {each.key: each.body for each in server.calls}
    found = [
        key
        for key, body in bodies.items()
        if body["messages"][-1]["content"].split("<translation>\n")[1].split("\n")[0] in subjects
    ]
    assert len(found) == len(subjects)
    assert all(body_key(bodies[key]) == key for key in found[:5])
    return found


def test_two_runs_at_once_share_the_work(large: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ScriptedServer(random_faults(3, 0.1, passing_faults(), judge()), latency=0.01) as server:
        runs = [start(server, large, out) for _ in range(2)]
        ends = [finish(run) for run in runs]
        counts = server.counts
    assert [(code, metric["counts"]) for code, metric in ends] == [(0, {"ok": CELLS})] * 2
    assert set(counts.answered.values()) == {1}
    assert len(counts.answered) == CELLS
    # Both did a part of it.
    bills = [metric["bill"]["calls"] for _, metric in ends]
    assert sum(bills) == CELLS
    assert min(bills) > 0
    with (out / "scores.csv").open(encoding="utf-8") as table:
        assert sum(1 for _ in table) == 1 + CELLS


# --- Memory ---------------------------------------------------------------------------------------------

_MEASURED = """
import resource, sys
from pathlib import Path
from challenge_sets import ChallengeSet
from metrics.judges.options import JudgeOptions
from metrics.llm.calls import Reply, Usage
from metrics.llm.client import Client
from metrics.llm.exchanges import Outcome
from metrics.llm.log import CALLS
from metrics.llm.options import LlmOptions
from metrics.runner import score_set

async def attempt(self, call):
    usage = Usage(1, 1)
    return Outcome(Reply("ok", sys.argv[3], finish="stop", usage=usage), usage=usage, answered=True)

Client._attempt = attempt
llm = LlmOptions("m-1", base_url="http://127.0.0.1:9/v1", structured="off", concurrency=64)
folder, out = Path(sys.argv[1]), Path(sys.argv[2])
(result,) = score_set(ChallengeSet(folder), ["mqm"], out, judge=JudgeOptions(llm, out / CALLS))
print(result.counts["ok"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_cells(many: Make, tmp_path: Path) -> None:
    """All but the connections, which would take minutes: every answer is there at once."""
    peaks = {}
    for cells in (2_000, 20_000):
        folder, out = tmp_path / f"set-{cells}", tmp_path / f"out-{cells}"
        many(folder, cells)
        done = subprocess.run(
            [sys.executable, "-c", _MEASURED, folder, out, NONE],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        scored, kilobytes = map(int, done.stdout.split())
        assert scored == cells
        peaks[cells] = kilobytes / 1024
    # Names and numbers of ten times the cells, and one window of texts.
    assert peaks[20_000] - peaks[2_000] < 40, peaks
