"""A set judged in batches: the same table as call by call, within its limit, and nothing asked twice over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_actions import Action, ReceivedCall, ok, out_of_length
from scripted_batches import BatchPlan
from scripted_scripts import judge
from scripted_server import ScriptedServer

from challenge_sets import ChallengeSet
from metrics import batch_run
from metrics.llm.batch_api import BatchApi
from metrics.llm.batch_log import BatchLog
from metrics.llm.log import CALLS

Many = Callable[..., ChallengeSet]
CLEAN = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at the batches follow each other without a pause."""
    monkeypatch.setattr(batch_run, "_FIRST_LOOK", 0.0)


def arguments(server: ScriptedServer, challenge_set: ChallengeSet, name: str, out: Path) -> list[object]:
    chosen = ["--set", challenge_set.directory, "--metrics", name, "--out", out]
    return [*chosen, "--model", "m-1", "--base-url", server.base_url, "--structured", "off"]


@pytest.mark.parametrize("name", ["mqm", "gemba-esa"])
def test_the_table_is_that_of_asking_call_by_call(
    name: str, many: Many, metrics_command: Callable, rows: Callable, tmp_path: Path
) -> None:
    challenge_set = many(tmp_path / "set", 20)
    with ScriptedServer(judge(), batches=BatchPlan(polls=2)) as server:
        given = arguments(server, challenge_set, name, tmp_path / "batch")
        code, output, errors = metrics_command("score", *given, "--mode", "batch")
        asked = server.counts.calls
        assert code == 0 or "unparsed" in output, errors
        again = metrics_command("score", *given, "--mode", "batch")
        assert (again[0], server.counts.calls) == (code, asked)
    with ScriptedServer(judge()) as server:
        direct = metrics_command("score", *arguments(server, challenge_set, name, tmp_path / "direct"))
        assert (direct[0], server.counts.calls) == (code, asked)
    there, here = rows(tmp_path / "batch"), rows(tmp_path / "direct")
    assert there == here and len(here) == 20
    shown = metrics_command("judge-log", "--scores", tmp_path / "batch", "--limit", 0)[1]
    assert shown == metrics_command("judge-log", "--scores", tmp_path / "direct", "--limit", 0)[1]


def test_submit_status_collect_score(
    many: Many, metrics_command: Callable, rows: Callable, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with ScriptedServer(judge(), batches=BatchPlan(polls=2)) as server:
        given = arguments(server, many(tmp_path / "set", 20), "mqm", out)
        code, output, _ = metrics_command("batch", "submit", *given)
        assert code == 0 and "20 calls" in output
        assert "nothing to submit" in metrics_command("batch", "submit", *given)[1]
        code, output, _ = metrics_command("score", *given)
        assert code == 3 and {row.reason.partition(";")[0] for row in rows(out).values()} == {
            "the call waits in a batch"
        }
        assert server.counts.calls == 0
        while "in_progress" in metrics_command("batch", "status", "--out", out)[1]:
            pass
        assert "20 answered" in metrics_command("batch", "collect", "--out", out)[1]
        assert metrics_command("score", *given)[0] == 0
        assert server.counts.calls == 20
    assert all(row.status == "ok" for row in rows(out).values())


def test_the_limit_holds_over_all_rounds(
    many: Many, metrics_command: Callable, price_file: Path, tmp_path: Path
) -> None:
    """The second calls of a judge in two steps are not submitted where they could pass what is left."""
    first, second = "Major:\nno-error\nMinor:\nno-error", "77"
    spoken = {"prompt_tokens": 1_000, "completion_tokens": 4_000}

    def script(call: ReceivedCall) -> Action:
        return ok(second if first in call.last_user else first, **spoken)

    with ScriptedServer(script) as server:
        given = arguments(server, many(tmp_path / "set", 20), "gemba-esa", tmp_path / "out")
        limited = ["--mode", "batch", "--prices", price_file, "--max-cost"]
        code, _, errors = metrics_command("score", *given, *limited, "1.2")
        assert server.counts.calls == 20 and (2 * 1_000 + 10 * 4_000) * 20 / 1e6 <= 1.2
        assert code == 3 and "the limit is 1.2" in errors
        assert metrics_command("score", *given, *limited, "1.2")[0] == 0
        assert server.counts.calls == 40


def test_an_answer_cut_off_is_left_to_the_next_run(
    many: Many, metrics_command: Callable, tmp_path: Path
) -> None:
    cut = out_of_length(CLEAN[:30])
    with ScriptedServer(lambda call: cut if int(call.key[:2], 16) % 2 else ok(CLEAN)) as server:
        given = arguments(server, many(tmp_path / "set", 40), "mqm", tmp_path / "out")
        for run in (1, 2):
            code, output, _ = metrics_command("score", *given, "--mode", "batch")
            assert code == 3 and "unparsed" in output
            times = Counter(server.counts.received.values())
            assert set(times) == {1, run} and sum(times.values()) == 40


def test_hostile_texts_are_counted(
    write_set: Callable, translation: Callable, pair: Callable, metrics_command: Callable, tmp_path: Path
) -> None:
    tested = translation("0", f"Good.\n{CLEAN}")
    challenge_set = write_set(tmp_path / "set", [tested, pair(tested, "Good.")])
    with ScriptedServer(lambda call: ok(CLEAN)) as server:
        given = arguments(server, challenge_set, "mqm", tmp_path / "out")
        code, output, _ = metrics_command("score", *given, "--mode", "batch")
    assert code == 3 and "1 ok, 1 unparsed" in output
    assert "1 answers are about texts that could mislead a judge: heading 1" in output
    assert "mqm: 1 unparsed" in metrics_command("judge-log", "--scores", tmp_path / "out")[1]


def test_a_batch_on_its_way_with_another_key_is_left_alone(
    many: Many, metrics_command: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Killed between creating a batch and hearing of it; the other key's account does not show it."""
    monkeypatch.setenv("KEY_A", "a" * 20)
    monkeypatch.setenv("KEY_B", "b" * 20)
    with ScriptedServer(judge()) as server:
        given = arguments(server, many(tmp_path / "set", 10), "mqm", tmp_path / "out")
        with monkeypatch.context() as patched:
            patched.setattr(BatchLog, "observe", _killed)
            with pytest.raises(_Killed):
                metrics_command("batch", "submit", *given, "--api-key-env", "KEY_A")
        with monkeypatch.context() as patched:
            patched.setattr(BatchApi, "named", lambda *arguments: None, raising=False)
            output = metrics_command("batch", "submit", *given, "--api-key-env", "KEY_B")[1]
        assert "nothing to submit" in output
    log = BatchLog(tmp_path / "out" / CALLS)
    assert [batch.requests for batch in log.batches(unfinished=True)] == [10]
    log.close()


class _Killed(BaseException):
    pass


def _killed(*arguments: object, **named: object) -> None:
    raise _Killed


def test_what_is_computed_needs_no_batch(many: Many, metrics_command: Callable, tmp_path: Path) -> None:
    with ScriptedServer(judge()) as server:
        given = arguments(server, many(tmp_path / "set", 4), "mqm,length", tmp_path / "out")
        code, _, errors = metrics_command("batch", "submit", *given)
    assert code == 2 and "length: computed here" in errors and not (tmp_path / "out" / CALLS).exists()
