"""The client where all is well: order, repetitions, what follows, and every way of leaving early."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import scripted_faults as faults
from asking import (
    SHORT_WAIT,
    answered_in,
    ask_all,
    ask_one,
    call_of,
    calls_of,
    client_of,
    journal_of,
    options_for,
    start,
)
from scripted_actions import Action, ReceivedCall, ok, slow
from scripted_scripts import always, judge
from scripted_server import ScriptedServer

from challenge_sets import InputError
from metrics.llm import waits
from metrics.llm.calls import Call, Reply, Usage
from metrics.llm.client import Client
from metrics.llm.exchanges import Outcome
from metrics.llm.log import CallLog


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "FIRST_WAIT", SHORT_WAIT)


def test_every_call_is_answered_once_and_then_from_the_log(tmp_path: Path) -> None:
    with ScriptedServer(judge("number"), latency=0.005) as server:
        options = options_for(server.base_url, concurrency=8)
        first = ask_all(options, tmp_path / "log", calls_of(options, 60))
        again = ask_all(options, tmp_path / "log", calls_of(options, 60))
        counts = server.counts
    assert counts.calls == 60 and 2 < counts.max_in_flight <= 8
    said = {call.subject: reply.text for call, reply in first}
    assert said == {call.subject: reply.text for call, reply in again} and len(said) == 60
    assert not any(reply.stored for _, reply in first)
    assert all(reply.stored and reply.usage == Usage() for _, reply in again)
    lines = journal_of(tmp_path / "log")
    assert len(lines) == 60
    assert {(line["status"], line["finish"], line["attempts"]) for line in lines} == {("ok", "stop", 1)}
    assert sum(line["input"] for line in lines) == counts.prompt_tokens
    assert sum(line["output"] for line in lines) == counts.completion_tokens
    assert all(line["latency"] >= 0.005 for line in lines)


def test_samples_parameters_and_prompts_are_asked_on_their_own(tmp_path: Path) -> None:
    with ScriptedServer(always(ok("85"))) as server:
        options = options_for(server.base_url)
        calls = [
            call_of(options),
            call_of(options, sample=2),
            call_of(options, prompts="b"),
            call_of(options, parameters=options.parameters(65)),
            call_of(options, schema={"type": "object"}),
            call_of(options, model="m-2"),
        ]
        replies = ask_all(options, tmp_path / "log", calls)
        assert server.counts.calls == len(calls)
        assert not any(reply.stored for _, reply in replies)
        # Who asks, and about what, shapes no answer.
        assert ask_one(options, tmp_path / "log", purpose="q", subject="s").stored
        (bound,) = (call.body["response_format"] for call in server.calls if "response_format" in call.body)
    assert bound["json_schema"]["schema"] == {"type": "object"} and bound["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("action", "status"), [(ok("85"), "ok"), (faults.content_filter(), "failed"), (faults.reset(), "failed")]
)
def test_a_question_that_comes_again_while_it_is_asked_is_asked_once(
    action: Action, status: str, tmp_path: Path
) -> None:
    def script(call: ReceivedCall) -> Action:
        return slow(action, 0.03) if call.last_user == "same" else ok("85")

    with ScriptedServer(script) as server:
        options = options_for(server.base_url, concurrency=8)
        same = [call_of(options, "same", purpose=str(number)) for number in range(3)]
        calls = [call_of(options, "first"), *same, call_of(options, "other"), *same]
        replies = ask_all(options, tmp_path / "log", calls)
        counts = server.counts
    assert len(replies) == len(calls)
    got = [reply for call, reply in replies if call.messages[0]["content"] == "same"]
    assert {reply.status for reply in got} == {status}
    assert len({(reply.text, reply.reason) for reply in got}) == 1
    # The second three come when the answer to the first may be there already, and a failure is not final.
    rounds = 1 if status == "ok" else 2
    most = 2 + rounds * (3 if action.name == "reset" else 1)
    assert counts.calls <= most
    paid = [reply for reply in got if not reply.stored]
    assert len(paid) <= rounds
    assert sum(reply.attempts for reply in paid) == counts.calls - 2


def test_a_stream_of_one_question_does_not_pile_up(tmp_path: Path) -> None:
    taken = 0

    def calls(options: Any) -> Iterator[Call]:
        nonlocal taken
        for taken in range(1, 1001):
            yield call_of(options, "same" if taken > 1 else "first")

    with ScriptedServer(always(slow(ok("85"), 0.05))) as server:
        options = options_for(server.base_url, concurrency=8)
        with client_of(options, tmp_path / "log") as client:
            asking = client.ask(calls(options))
            next(asking)
            next(asking)
            assert taken <= 18
            assert sum(map(len, asking)) + 2 >= 990
        assert server.counts.calls == 2


def test_calls_that_follow_from_replies(tmp_path: Path) -> None:
    def follow(call: Call, reply: Reply) -> Call | None:
        if call.subject.startswith("spans") and reply.status == "ok":
            number = call.subject.split()[1]
            return call_of(options, f"score {number} after {reply.text}", subject=f"score {number}")
        return None

    def script(call: ReceivedCall) -> Action:
        return faults.content_filter() if call.last_user == "spans 7" else ok(str(len(call.last_user)))

    with ScriptedServer(script) as server:
        options = options_for(server.base_url)
        calls = [call_of(options, f"spans {number}") for number in range(20)]
        replies = ask_all(options, tmp_path / "log", calls, follow)
        assert server.counts.calls == 39
        again = ask_all(options, tmp_path / "log", calls, follow)
        # The one that was filtered is asked again, and no other.
        assert server.counts.calls == 40
    assert len(replies) == len(again) == 39
    assert sum(call.subject.startswith("score") for call, _ in replies) == 19


def test_few_calls_are_held_at_a_time(tmp_path: Path) -> None:
    taken = 0

    def calls() -> Iterator[Call]:
        nonlocal taken
        for number in range(1000):
            taken = number
            yield call_of(options, number)

    with ScriptedServer(always(ok("85"))) as server:
        options = options_for(server.base_url, concurrency=8)
        with client_of(options, tmp_path / "log") as client:
            got = 0
            for part in client.ask(calls()):
                got += len(part)
                assert taken <= got + 2 * options.concurrency
                if got > 100:
                    break


def test_memory_does_not_grow_with_the_number_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def attempt(self: Client, call: Call) -> Outcome:
        return Outcome(reply=Reply("ok", "85", finish="stop"), answered=True)

    monkeypatch.setattr(Client, "_attempt", attempt)
    options = options_for("http://127.0.0.1:9/v1", concurrency=32)

    def peak(count: int) -> int:
        with client_of(options, tmp_path / f"log{count}") as client:
            tracemalloc.start()
            assert sum(len(part) for part in client.ask(calls_of(options, count))) == count
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return most

    peak(100)
    # Less than the key of every call would take.
    assert peak(4_000) < peak(400) + 150_000


@pytest.mark.parametrize("leave", ["close", "error", "generator"])
def test_leaving_early_keeps_what_is_under_way(leave: str, tmp_path: Path) -> None:
    with ScriptedServer(always(slow(ok("85"), 0.05))) as server:
        options = options_for(server.base_url, concurrency=8)
        calls = list(calls_of(options, 50))
        with client_of(options, tmp_path / "log") as client:
            asking = client.ask(calls)
            next(asking), next(asking)
            if leave == "close":
                asking.close()
            elif leave == "error":
                with pytest.raises(ZeroDivisionError):
                    for _ in asking:
                        _ = 1 // 0
        counts = server.counts
    assert 8 <= counts.calls < 50
    assert counts.abandoned == 0
    assert answered_in(tmp_path / "log", calls) == counts.calls == len(counts.answered)


def test_an_error_in_the_stream_of_calls_keeps_what_is_under_way(tmp_path: Path) -> None:
    def calls() -> Iterator[Call]:
        yield from calls_of(options, 40)
        raise InputError("line 41 is broken")

    with ScriptedServer(always(slow(ok("85"), 0.03))) as server:
        options = options_for(server.base_url, concurrency=4)
        with pytest.raises(InputError, match="line 41"):
            ask_all(options, tmp_path / "log", calls())
        counts = server.counts
    # Those that were not sent yet are not sent any more.
    assert 35 <= counts.calls <= 40 and counts.abandoned == 0
    assert answered_in(tmp_path / "log", calls_of(options, 40)) == counts.calls


def test_a_client_may_be_used_again_after_it_ended(tmp_path: Path) -> None:
    def script(call: ReceivedCall) -> Action:
        return faults.payment_required() if call.number == 2 else ok("85")

    with ScriptedServer(script) as server:
        options = options_for(server.base_url)
        with client_of(options, tmp_path / "log") as client:
            with pytest.raises(InputError, match="no credit"):
                list(client.ask(calls_of(options, 9)))
            assert sum(len(part) for part in client.ask(calls_of(options, 9))) == 9
        assert len(server.counts.received) == 9
        assert set(server.counts.answered.values()) == {1}


@pytest.mark.parametrize(
    ("number", "usual"), [(signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)]
)
def test_an_interruption_lets_calls_come_in_first(
    number: signal.Signals, usual: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.signal(number, usual)  # type: ignore[arg-type]
    try:
        with ScriptedServer(always(slow(ok("85"), 0.1))) as server:
            options = options_for(server.base_url, concurrency=8)
            calls = list(calls_of(options, 200))

            def interrupt() -> None:
                while server.counts.calls < 30:
                    time.sleep(0.01)
                os.kill(os.getpid(), number)

            threading.Thread(target=interrupt).start()
            with pytest.raises(KeyboardInterrupt):
                ask_all(options, tmp_path / "log", calls)
            counts = server.counts
        assert signal.getsignal(number) is usual
    finally:
        signal.signal(number, before)
    assert counts.abandoned == 0
    assert answered_in(tmp_path / "log", calls) == counts.calls == len(counts.answered) < 200
    said = capsys.readouterr().err
    assert re.fullmatch(r"waiting for \d calls under way; once more to leave at once\n", said)


def test_an_interruption_is_heard_where_everything_comes_from_the_log(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with ScriptedServer(always(ok("85"))) as server:
            options = options_for(server.base_url)
            ask_all(options, tmp_path / "log", calls_of(options, 30))
            with client_of(options, tmp_path / "log") as client, pytest.raises(KeyboardInterrupt):
                for _ in client.ask(calls_of(options, 30)):
                    os.kill(os.getpid(), signal.SIGINT)

            def calls() -> Iterator[Call]:
                os.kill(os.getpid(), signal.SIGINT)
                yield from ()

            # One that comes when nothing is left to do is not lost, either.
            with client_of(options, tmp_path / "log") as client, pytest.raises(KeyboardInterrupt):
                list(client.ask(calls()))
    finally:
        signal.signal(signal.SIGINT, before)


def test_whoever_minds_interruptions_already_goes_on_doing_so(tmp_path: Path) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with ScriptedServer(always(ok("85"))) as server:
            options = options_for(server.base_url)
            with client_of(options, tmp_path / "log") as client:
                parts = 0
                for _ in client.ask(calls_of(options, 3)):
                    parts += 1
                    os.kill(os.getpid(), signal.SIGINT)
        assert len(heard) == parts >= 2
    finally:
        signal.signal(signal.SIGINT, before)


def test_outside_the_main_thread(tmp_path: Path) -> None:
    got: list[Reply] = []
    with ScriptedServer(always(ok("85"))) as server:
        options = options_for(server.base_url)
        thread = threading.Thread(target=lambda: got.append(ask_one(options, tmp_path / "log")))
        thread.start()
        thread.join()
    assert [reply.status for reply in got] == ["ok"]


def test_two_interruptions_of_a_process_leave_at_once(tmp_path: Path) -> None:
    def script(call: ReceivedCall) -> Action:
        return slow(ok("85"), 0.05) if call.number < 20 else slow(ok("85"), 60)

    with ScriptedServer(script) as server:
        process = start(server.base_url, tmp_path / "log", 100, concurrency=8)
        # So many calls come only after the first twenty answers were taken in.
        while server.counts.calls < 28:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "once more to leave at once" in process.stderr.readline()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
        assert time.monotonic() - began < 5
        answered = len(server.counts.answered)
        options = options_for(server.base_url)
    assert process.returncode == 130
    assert said.strip() == ""
    assert answered_in(tmp_path / "log", calls_of(options, 100)) == answered == 20
    log = CallLog(tmp_path / "log", read_only=True)
    assert log._db.execute("SELECT COUNT(*) FROM claims").fetchone() == (0,)
    log.close()


def test_an_interruption_of_a_process_keeps_every_answer(tmp_path: Path) -> None:
    with ScriptedServer(judge("number"), latency=0.15) as server:
        process = start(server.base_url, tmp_path / "log", 1000, concurrency=16)
        while server.counts.calls < 40:
            assert process.poll() is None
            time.sleep(0.02)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert time.monotonic() - began < 5
        counts = server.counts
        options = options_for(server.base_url)
    assert process.returncode == 130
    assert counts.abandoned == 0
    assert answered_in(tmp_path / "log", calls_of(options, 1000)) == len(counts.answered) == counts.calls


def test_without_the_extra_and_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        ask_all(options_for("https://api.openai.com/v1"), tmp_path / "log", [])
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(InputError, match=r"needs the optional dependency 'judge'"):
        ask_all(options_for("http://127.0.0.1:9/v1"), tmp_path / "log", [])


def test_the_key_of_the_environment_is_sent_and_none_to_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("TEST_KEY", "sk-test-1")
    with ScriptedServer(always(ok("85")), expected_key="sk-test-1") as server:
        options = options_for(server.base_url, api_key_env="TEST_KEY")
        assert ask_one(options, tmp_path / "log").status == "ok"
        with pytest.raises(InputError, match=r"refuses the key") as stop:
            ask_one(options_for(server.base_url), tmp_path / "other")
        assert [call.headers["authorization"] for call in server.calls] == ["Bearer sk-test-1", "Bearer none"]
    assert "no key was sent" in (stop.value.hint or "")
