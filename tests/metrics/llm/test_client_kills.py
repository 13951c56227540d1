"""Long runs through a bad endpoint, killed in between, and two processes at once: nothing is paid twice."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest
import scripted_actions as actions
import scripted_faults as faults
from asking import SHORT_WAIT, answered_in, ask_all, call_of, calls_of, journal_of, options_for, start
from scripted_actions import body_key, ok
from scripted_scripts import always, judge, random_faults
from scripted_server import ScriptedServer

from challenge_sets import InputError
from metrics.llm import waits
from metrics.llm.log import CallLog

CALLS = 2000
CONCURRENCY = 32
SINGLE = (
    faults.content_filter(),
    faults.context_length(),
    faults.bad_request(),
    actions.refusal(),
    actions.out_of_length(),
    actions.filtered(),
    actions.tool_calls(),
    actions.reasoning_ate_budget(),
    faults.over_long_wait(),
)


def bad_endpoint(seed: int) -> ScriptedServer:
    """Three of ten attempts fail, one of seven of these for the rest of the run."""
    passing = [*faults.passing_faults(), actions.slow(faults.server_error(), 0.05)]
    script = random_faults(seed, 0.3, [*passing * 3, *SINGLE], judge("number"))
    return ScriptedServer(script, latency=0.004, keep_calls=False)


def log_keys(path: Path, by_key: dict[bytes, str]) -> set[str]:
    """Calls with an answer in the log, as the server names them."""
    log = CallLog(path, read_only=True)
    try:
        return {by_key[key] for key in log.answered(list(by_key))}
    finally:
        log.close()


@pytest.mark.parametrize(("seed", "wanted"), [(1, CALLS), *((seed, 250) for seed in range(10, 15))])
def test_a_long_run_through_faults_is_complete_after_reruns(
    seed: int, wanted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "FIRST_WAIT", SHORT_WAIT)
    log = tmp_path / "log"
    with bad_endpoint(seed) as server:
        options = options_for(server.base_url, concurrency=CONCURRENCY, attempts=6)
        left = wanted
        for run in range(12):
            if not left:
                break
            try:
                replies = ask_all(options, log, calls_of(options, wanted))
                assert len(replies) == wanted
                left = sum(reply.status != "ok" for _, reply in replies)
                assert all(reply.reason for _, reply in replies if reply.status != "ok")
            except InputError as error:
                # So many failures before the first answer of a rerun, or one after the other, can happen.
                assert run and "one after the other" in str(error)
        counts = server.counts
    assert left == 0
    assert len(counts.received) == wanted
    assert set(counts.answered.values()) == {1}
    assert counts.answered.keys() == counts.received.keys()
    assert counts.calls > 1.25 * wanted
    assert counts.max_in_flight <= CONCURRENCY
    assert counts.abandoned == 0
    lines = journal_of(log)
    assert sum(line["attempts"] for line in lines) == counts.calls
    assert sum(line["input"] or 0 for line in lines) == counts.prompt_tokens
    assert sum(line["output"] or 0 for line in lines) == counts.completion_tokens


def test_a_run_that_is_killed_again_and_again_pays_for_little_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with bad_endpoint(4) as server:
        options = options_for(server.base_url)
        by_key = {call.key: body_key(call.body()) for call in calls_of(options, CALLS)}
        safe: set[str] = set()
        asked_before: dict[str, int] = {}
        for done in (500, 1000, 1500):
            process = start(server.base_url, log, CALLS, concurrency=CONCURRENCY)
            while len(server.counts.answered) < done:
                assert process.poll() is None
                time.sleep(0.005)
            process.kill()
            process.communicate()
            while server.counts.in_flight:
                time.sleep(0.005)
            counts = server.counts
            assert {key: counts.received[key] for key in safe} == asked_before
            kept = log_keys(log, by_key)
            # What the server answered and the log does not hold was under way.
            assert len(counts.answered.keys() - kept) <= CONCURRENCY
            assert kept <= counts.answered.keys() and safe <= kept
            safe, asked_before = kept, {key: counts.received[key] for key in kept}
        statuses: dict[str, int] = {}
        for _ in range(12):
            process = start(server.base_url, log, CALLS, concurrency=CONCURRENCY)
            said, errors = process.communicate(timeout=120)
            assert process.returncode == 0 or "one after the other" in errors
            statuses = json.loads(said) if said else {}
            if statuses == {"ok": CALLS}:
                break
        counts = server.counts
    assert statuses == {"ok": CALLS}
    assert {key: counts.received[key] for key in safe} == asked_before
    assert set(counts.answered) == set(by_key.values())
    again = sum(count - 1 for count in counts.answered.values())
    assert again <= 3 * CONCURRENCY
    assert counts.max_in_flight <= CONCURRENCY


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_two_processes_with_one_log_ask_nothing_twice(rate: float, tmp_path: Path) -> None:
    script = random_faults(5, rate, faults.passing_faults(), judge("number"))
    with ScriptedServer(script, latency=0.05) as server:
        # So many attempts that none is left without an answer.
        given = {"concurrency": 8, "attempts": 15}
        both = [start(server.base_url, tmp_path / "log", 300, **given) for _ in range(2)]
        said = [process.communicate(timeout=120) for process in both]
        counts = server.counts
        options = options_for(server.base_url)
    assert [json.loads(out) for out, _ in said] == [{"ok": 300}] * 2
    assert answered_in(tmp_path / "log", calls_of(options, 300)) == 300
    # Each call was answered once; all other attempts at it had failed before.
    assert set(counts.answered.values()) == {1} and len(counts.answered) == 300
    faulty = counts.calls - counts.actions["ok"]
    assert counts.actions["ok"] == 300 and (faulty > 0) == (rate > 0)
    runs = Counter(line["run"] for line in journal_of(tmp_path / "log"))
    assert len(runs) == 2


def test_a_call_that_a_dead_process_was_asking_is_asked(tmp_path: Path) -> None:
    with ScriptedServer(always(actions.slow(ok("85"), 30))) as server:
        process = start(server.base_url, tmp_path / "log", 1)
        while not server.counts.in_flight:
            assert process.poll() is None
            time.sleep(0.02)
        log = CallLog(tmp_path / "log")
        call = call_of(options_for(server.base_url), "```0```")
        assert not log.claim(call.key, 10)
        process.kill()
        process.communicate()
        assert log.claim(call.key, 10)
        log.close()
