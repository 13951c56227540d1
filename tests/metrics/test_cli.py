"""``python -m metrics`` from outside: exit codes, killed runs, runs at once, and how fast it starts."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from challenge_sets import ChallengeSet
from metrics.store import STORE

ITEMS = 400
TEXTS = ITEMS * 2 * 2  # both sides, two metrics
ROOT = Path(__file__).parents[2]
Make = Callable[..., ChallengeSet]
Command = Callable[..., subprocess.CompletedProcess[str]]


def files(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in ("scores.csv", "scores.json")}


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "metrics", "score", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def answers(store: Path) -> int:
    if not store.is_file():
        return 0
    database = sqlite3.connect(store, timeout=10)
    try:
        return int(database.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # the tables are not there yet
    finally:
        database.close()


@pytest.fixture(scope="module")
def long_set(
    write_set: Make, translation: Callable, pair: Callable, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Enough text for TER to take some seconds, each text another one."""
    words = ["the", "old", "mill", "by", "the", "river", "ground", "flour", "for", "the", "whole", "valley"]
    records = []
    for item in range(ITEMS):
        text = " ".join([*words[item % 6 :], str(item), *words[: item % 6]])
        tested = translation(str(item), text, reference=" ".join([str(item), *words]))
        records += [tested, pair(tested, text.replace("the", "a"))]
    out = tmp_path_factory.mktemp("long") / "set"
    write_set(out, records)
    return out


@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_and_run_again_gives_the_same_table(
    command: Command, long_set: Path, tmp_path: Path, workers: str
) -> None:
    arguments = ("--set", long_set, "--metrics", "ter,chrf", "--workers", workers, "--out")
    command("metrics", "score", *arguments, tmp_path / "whole")
    killed = tmp_path / "killed"
    run = start(*arguments, killed)
    deadline = time.monotonic() + 60
    while answers(killed / STORE) == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    assert not (killed / "scores.csv").exists()
    # The processes it had started leave, too: nobody is left in its group.
    while time.monotonic() < deadline:
        try:
            os.killpg(run.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)
    saved = answers(killed / STORE)
    assert 0 < saved < TEXTS
    done = command("metrics", "score", *arguments, killed, "--json")
    metrics = json.loads(done.stdout)["metrics"]
    assert sum(metric["from_store"] for metric in metrics) == saved
    assert sum(metric["to_score"] for metric in metrics) == TEXTS - saved
    assert files(killed) == files(tmp_path / "whole")


def test_two_runs_at_once_end_with_one_table(long_set: Path, tmp_path: Path) -> None:
    both = ("--set", long_set, "--metrics", "ter,chrf", "--workers", "1", "--out", tmp_path / "both")
    runs = [start(*both), start(*both)]
    for run in runs:
        _, errors = run.communicate(timeout=120)
        assert (run.returncode, errors) == (0, "")
    alone = start(*both[:-1], tmp_path / "alone")
    alone.communicate(timeout=120)
    assert alone.returncode == 0
    assert files(tmp_path / "both") == files(tmp_path / "alone")


def test_two_runs_with_different_metrics_end_with_all_of_them(
    small_set: Make, command: Command, tmp_path: Path
) -> None:
    small_set(tmp_path / "set", items=150)
    common = ("--set", tmp_path / "set", "--out")
    runs = [
        start(*common, tmp_path / "both", "--metrics", "ter,length"),
        start(*common, tmp_path / "both", "--metrics", "chrf", "--pseudo-reference", "birch"),
    ]
    for run in runs:
        _, errors = run.communicate(timeout=120)
        assert (run.returncode, errors) == (0, "")
    command("metrics", "score", *common, tmp_path / "one", "--metrics", "ter,length")
    command("metrics", "score", *common, tmp_path / "one", "--metrics", "chrf", "--pseudo-reference", "birch")
    assert files(tmp_path / "both") == files(tmp_path / "one")


def test_paths_and_summary_on_stdout_nothing_on_stderr(
    small_set: Make, command: Command, tmp_path: Path
) -> None:
    small_set(tmp_path / "set")
    out = tmp_path / "out"
    done = command("metrics", "score", "--set", tmp_path / "set", "--metrics", "bleu, length", "--out", out)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        str(out / "scores.csv"),
        str(out / "scores.json"),
        "bleu [en]: 24 ok; 6 pairs blind by construction; 13 scored, 0 from the store, 11 duplicates",
        "length [en] (sentinel): 24 ok; 0 pairs blind by construction; "
        "13 scored, 0 from the store, 11 duplicates",
    ]


def test_dry_run(small_set: Make, command: Command, tmp_path: Path) -> None:
    small_set(tmp_path / "set")
    arguments = ("--set", tmp_path / "set", "--metrics", "chrf", "--out", tmp_path / "out", "--dry-run")
    done = command("metrics", "score", *arguments)
    assert done.stdout.startswith("chrf [en]: 13 texts to score (")
    value = json.loads(command("metrics", "score", *arguments, "--json").stdout)
    assert value["dry_run"] is True and value["files"] == []
    assert value["metrics"][0]["to_score"] == 13
    assert not (tmp_path / "out").exists()


def test_an_altered_set_is_refused(small_set: Make, command: Command, tmp_path: Path) -> None:
    small_set(tmp_path / "set")
    pairs = tmp_path / "set" / "pairs.jsonl"
    pairs.write_text(pairs.read_text(encoding="utf-8").replace("quietly", "loudly", 2), encoding="utf-8")
    arguments = ("--set", tmp_path / "set", "--metrics", "chrf", "--out", tmp_path / "out")
    done = command("metrics", "score", *arguments, code=2)
    assert "pairs.jsonl: does not match its hash" in done.stderr
    assert not (tmp_path / "out").exists()


def test_no_reference_is_exit_code_2_with_the_way_out(
    small_set: Make, command: Command, tmp_path: Path
) -> None:
    small_set(tmp_path / "set", reference=None)
    arguments = ("--set", tmp_path / "set", "--metrics", "chrf", "--out", tmp_path / "out")
    done = command("metrics", "score", *arguments, code=2)
    assert "--pseudo-reference SYSTEM, with one of: birch" in done.stderr
    assert not (tmp_path / "out").exists()
    command("metrics", "score", *arguments, "--pseudo-reference", "birch")


def test_missing_cells_are_exit_code_3(
    write_set: Make, translation: Callable, pair: Callable, command: Command, tmp_path: Path
) -> None:
    some, none = translation("1", "A cat."), translation("2", "A cat.", reference=None)
    write_set(tmp_path / "set", [some, none, pair(some, "A dog."), pair(none, "A dog.")])
    arguments = ("--set", tmp_path / "set", "--metrics", "chrf", "--out", tmp_path / "out")
    done = command("metrics", "score", *arguments, code=3)
    assert "chrf [en]: 2 not_applicable, 2 ok;" in done.stdout
    assert "2 cells have no score" in done.stdout
    assert (tmp_path / "out" / "scores.csv").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--metrics", "blue"), "did you mean 'bleu'"),
        (("--metrics", ","), "no metric named"),
        (("--metrics", "chrf", "--pseudo-reference", "oak"), "no system 'oak'"),
        (("--metrics", "chrf", "--workers", "0"), "--workers"),
    ],
)
def test_wrong_use(
    small_set: Make, command: Command, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    small_set(tmp_path / "set")
    done = command(
        "metrics", "score", "--set", tmp_path / "set", "--out", tmp_path / "out", *arguments, code=2
    )
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_list(command: Command) -> None:
    entries = {entry["name"]: entry for entry in json.loads(command("metrics", "list", "--json").stdout)}
    assert {"bleu", "chrf", "chrf++", "ter", "length", "random", "source-copy"} <= entries.keys()
    assert entries["ter"]["higher_is_better"] is False
    assert entries["bleu"]["needs"] == ["reference"]
    assert entries["source-copy"]["sentinel"] is True and entries["source-copy"]["needs"] == ["source"]
    installs = {install["extra"]: install for install in entries["bleu"]["install"]}
    assert installs["ko"]["command"] == 'pip install "mt-blindspots[ko]"'
    assert installs["ja"]["languages"] == ["ja"]
    plain = command("metrics", "list").stdout
    assert "length (sentinel, segment, needs nothing else, higher is better)" in plain


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    script = (
        "import sys, runpy\n"
        "sys.argv = ['metrics', '--help']\n"
        "try:\n    runpy.run_module('metrics', run_name='__main__')\n"
        "except SystemExit as error:\n    assert not error.code\n"
        "heavy = {'pandas', 'scipy', 'statsmodels', 'torch', 'spacy', 'numpy', 'sacrebleu'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip().endswith("[]")
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "metrics", "--help"], cwd=ROOT, check=True, capture_output=True)
        seconds.append(time.perf_counter() - begin)
    assert min(seconds) < 1.0
