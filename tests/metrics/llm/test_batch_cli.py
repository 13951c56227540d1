"""What the command line says of batches."""

from __future__ import annotations

import json
from pathlib import Path

import scripted_faults as faults
from batch_bench import bench, by_text
from scripted_batches import BatchPlan

from challenge_sets import InputError
from metrics.llm.batch_log import BatchLog
from metrics.llm.log import CALLS


def run(*args: str | Path) -> tuple[int, str]:
    from typer.testing import CliRunner

    from metrics.batch_cli import app

    done = CliRunner().invoke(app, [str(each) for each in args])
    if isinstance(done.exception, InputError):
        return 2, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_status_and_collect(tmp_path: Path) -> None:
    script = by_text({"wort1": faults.server_error()})
    with bench(tmp_path, script, batches=BatchPlan(polls=3, missing=1)) as user:
        calls = user.calls(5)
        (batch,) = user.submit(calls)
        code, said = run("status", "--out", tmp_path)
        assert code == 0
        assert said.split() == f"{batch.name} batch_0 in_progress 0 answered, 0 failed of 5 0 min".split()
        code, said = run("collect", "--out", tmp_path)
        assert code == 0 and "go on" in said
        code, said = run("status", "--out", tmp_path, "--json")
        (shown,) = json.loads(said)["batches"]
        assert (code, shown["state"], shown["completed"], shown["failed"]) == (0, "completed", 4, 1)
        code, said = run("collect", "--out", tmp_path)
        assert code == 3
        assert "3 answered, 1 failed, 1 without a line" in said and "1 × " in said
        assert "2 calls have no answer" in said
        assert run("collect", "--out", tmp_path) == (0, "nothing is left to collect\n")


def test_json(tmp_path: Path) -> None:
    with bench(tmp_path) as user:
        user.submit(user.calls(5))
        code, said = run("collect", "--out", tmp_path, "--json")
        value = json.loads(said)
        assert (code, value["going_on"], value["collected"][0]["answered"]) == (0, [], 5)


def test_trouble(tmp_path: Path) -> None:
    with bench(tmp_path, batches=BatchPlan(polls=0)) as user:
        (batch,) = user.submit(user.calls(5))
        user.refresh()
        user.server.batches.contents.update(dict.fromkeys(user.server.batches.contents, b"?"))
        code, said = run("collect", "--out", tmp_path)
        assert code == 3 and "not collected" in said and "all answers" not in said
        code, said = run("status", "--out", tmp_path)
        assert code == 0 and "1 to collect" in said
        code, said = run("collect", "--out", tmp_path, "--forget", batch.name)
        assert code == 3 and "5 not asked" in said


def test_wrong_use(tmp_path: Path) -> None:
    for command in ("status", "collect"):
        code, said = run(command, "--out", tmp_path)
        assert code == 2 and "no batch was ever submitted" in said
    assert list(tmp_path.iterdir()) == []
    BatchLog(tmp_path / CALLS).close()
    assert run("status", "--out", tmp_path)[0] == 2
