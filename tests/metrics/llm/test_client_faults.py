"""What the client makes of every way in which an endpoint fails: one call, in the end, or the whole run."""

from __future__ import annotations

import gzip
import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import scripted_actions as actions
import scripted_faults as faults
from asking import KEY, SHORT_WAIT, answered_in, ask_all, ask_one, call_of, calls_of, journal_of, options_for
from scripted_actions import Action, ReceivedCall, body_key, ok
from scripted_scripts import always, in_turn
from scripted_server import ScriptedServer

from challenge_sets import InputError
from metrics.llm import client as client_module
from metrics.llm import runs, waits
from metrics.llm.calls import Usage
from metrics.llm.exchanges import UnsupportedParameterError

USAGE = Usage(7, 11, 3, 2)
GOOD = ok("85", prompt_tokens=7, completion_tokens=11, reasoning_tokens=3, cached_tokens=2)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "FIRST_WAIT", SHORT_WAIT)


def name_of(value: object) -> str | None:
    return value.name if isinstance(value, Action) else None


def unpackable() -> Action:
    return Action("not gzip", lambda call: b"not packed", headers=(("content-encoding", "gzip"),))


def broke_off(code: int = 502) -> Action:
    """As OpenRouter says it where the provider fails in the middle of an answer."""
    choice = {
        "index": 0,
        "finish_reason": "error",
        "message": {"role": "assistant", "content": "Crit"},
        "error": {"code": code, "message": "Provider went away"},
    }
    return ok("Crit", name="broke off", choices=[choice])


@pytest.mark.parametrize(
    "fault",
    [
        *faults.passing_faults(),
        actions.empty_content(),
        faults.rate_limited(None),
        faults.rate_limited(0, "date"),
        faults.error_in_200("503"),
        faults.error(504, "Overloaded", kind="overloaded_error"),
        Action("list", lambda call: []),
        Action("text", lambda call: b"upstream connect error", status=502, content_type="text/plain"),
        unpackable(),
        replace(unpackable(), status=500, name="500 not gzip"),
        replace(faults.server_error(), ending="cut", name="500 cut"),
        broke_off(),
    ],
    ids=name_of,
)
def test_a_fault_that_passes_is_asked_again_with_the_same_parameters(fault: Action, tmp_path: Path) -> None:
    with ScriptedServer(in_turn([fault, GOOD])) as server:
        options = options_for(server.base_url, extra={"seed": 7})
        reply = ask_one(options, tmp_path / "log")
        counts = server.counts
    assert (reply.status, reply.text, reply.attempts, reply.stored) == ("ok", "85", 2, False)
    assert counts.calls == 2
    asked = call_of(options).body()
    assert asked["seed"] == 7
    assert list(counts.received) == [body_key(asked)]
    # What the first attempt took, where the endpoint counted it, is part of what the call took.
    assert (reply.usage.input, reply.usage.output) == (counts.prompt_tokens, counts.completion_tokens)
    assert (reply.usage.reasoning, reply.usage.cached) == (USAGE.reasoning, USAGE.cached)


@pytest.mark.parametrize("fault", [faults.hang(), faults.stalled_body()], ids=name_of)
def test_silence_is_given_up_after_the_timeout(fault: Action, tmp_path: Path) -> None:
    with ScriptedServer(in_turn([fault, GOOD])) as server:
        reply = ask_one(options_for(server.base_url, timeout=0.1), tmp_path / "a")
    assert (reply.status, reply.attempts) == ("ok", 2)
    with ScriptedServer(always(fault)) as server:
        reply = ask_one(options_for(server.base_url, timeout=0.05, attempts=2), tmp_path / "b")
        assert server.counts.calls == 2
    assert (reply.status, reply.reason) == ("failed", "no answer within 0.05 seconds (tried 2 times)")


@pytest.mark.parametrize(
    ("action", "status", "reason", "text"),
    [
        (faults.content_filter(), "failed", "refused: The response was filtered", ""),
        (faults.bad_request(), "failed", "refused: We could not parse the request. (status 400)", ""),
        (faults.context_length(), "truncated", "too long for the model: This model's maximum", ""),
        (faults.error_in_200("context_length_exceeded", "Too many tokens"), "truncated", "too long", ""),
        (faults.error(413, "Request too large"), "truncated", "too long for the model", ""),
        (faults.error(403, "Your input was flagged by moderation"), "failed", "refused: Your input", ""),
        (faults.over_long_wait(), "failed", "the endpoint asks to wait 1000 seconds: Rate limit", ""),
        (actions.refusal("I will not."), "failed", "the model refused", "I will not."),
        (actions.out_of_length("Major:\nacc"), "unparsed", "cut off at the end", "Major:\nacc"),
        (actions.filtered("8"), "failed", "withheld by the endpoint's content filter", "8"),
        (actions.reasoning_ate_budget(), "unparsed", "the whole answer budget went into thinking", ""),
        (actions.tool_calls(), "failed", "no complete answer: finish_reason is 'tool_calls'", ""),
        (ok("85", finish_reason=None), "failed", "no complete answer: finish_reason is missing", "85"),
        (ok("8", finish_reason="\ud800" + "x" * 99), "failed", "finish_reason is '?xxx", "8"),
    ],
    ids=lambda value: name_of(value) or "",
)
def test_what_failed_for_its_own_sake_is_not_asked_again(
    action: Action, status: str, reason: str, text: str, tmp_path: Path
) -> None:
    with ScriptedServer(always(action)) as server:
        reply = ask_one(options_for(server.base_url), tmp_path / "log")
        counts = server.counts
    assert (reply.status, reply.attempts, counts.calls) == (status, 1, 1)
    assert reason in reply.reason
    assert reply.text == text
    assert (reply.usage.output or 0) == counts.completion_tokens
    (line,) = journal_of(tmp_path / "log")
    assert (line["status"], line["text"]) == (status, text)
    # Nothing of it is final: the next run asks again.
    with ScriptedServer(always(GOOD)) as server:
        again = ask_one(options_for(server.base_url), tmp_path / "log")
    assert (again.status, again.stored) == ("ok", False)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (faults.server_error(), "The server had an error while processing your request. (status 500)"),
        (faults.unavailable_page(), "a page for people: 503 Service Temporarily Unavailable (status 503)"),
        (faults.rate_limited(), "Rate limit reached for requests (status 429)"),
        (faults.error_in_200(), "Provider returned error (status 502)"),
        (faults.bad_json(), 'the response is no JSON object; it begins \'{"id"'),
        (actions.empty_choices(), "the response holds no answer"),
        (actions.null_choices(), "the response holds no answer"),
        (actions.null_content(), "the answer is empty"),
        (broke_off(), "the answer broke off: Provider went away"),
    ],
    ids=lambda value: name_of(value) or "",
)
def test_what_never_passes_is_missing_after_the_last_attempt(
    action: Action, reason: str, tmp_path: Path
) -> None:
    with ScriptedServer(always(action)) as server:
        reply = ask_one(options_for(server.base_url), tmp_path / "log")
        counts = server.counts
    assert (reply.status, reply.attempts, counts.calls) == ("failed", 3, 3)
    assert reply.reason.startswith(reason)
    assert reply.reason.endswith(" (tried 3 times)")
    assert (reply.usage.output or 0) == counts.completion_tokens
    assert [line["attempts"] for line in journal_of(tmp_path / "log")] == [3]


@pytest.mark.parametrize(
    ("action", "text", "model", "usage"),
    [
        (actions.no_usage("85"), "85", "m-1", Usage()),
        (actions.null_usage("85"), "85", "m-1", Usage()),
        (ok("85", usage={"prompt_tokens": 10**30, "completion_tokens": -1}), "85", "m-1", Usage()),
        (ok("85", usage={"prompt_tokens": 3.5, "completion_tokens": True}), "85", "m-1", Usage()),
        (actions.other_model("m-0613", "85"), "85", "m-0613", Usage(4, 1, 0, 0)),
        (actions.other_model("or-key-lime_1", "85"), "85", "or-key-lime_1", Usage(4, 1, 0, 0)),
        (actions.lone_surrogate(), "Score: ? 85", "m-1", Usage(4, 2, 0, 0)),
        (actions.nul_character(), "8\x005", "m-1", Usage(4, 1, 0, 0)),
        (faults.bad_utf8(), "85\ufffd", "m-1", Usage(4, 1, 0, 0)),
        (actions.very_large(), "x" * 5_000_000, "m-1", Usage(4, 1_250_000, 0, 0)),
        (ok("", message={"content": [{"type": "text", "text": "8"}, {"text": "5"}]}), "85", "m-1", None),
    ],
    ids=lambda value: name_of(value) or "",
)
def test_odd_answers_are_kept_as_they_are(
    action: Action, text: str, model: str, usage: Usage | None, tmp_path: Path
) -> None:
    with ScriptedServer(always(action)) as server:
        options = options_for(server.base_url)
        reply = ask_one(options, tmp_path / "log")
        again = ask_one(options, tmp_path / "log")
        assert server.counts.calls == 1
    assert (reply.status, reply.text, reply.model) == ("ok", text, model)
    assert usage is None or reply.usage == usage
    assert reply.cost is None
    assert (again.status, again.text, again.model, again.stored) == ("ok", text, model, True)
    assert again.usage == Usage()


@pytest.mark.parametrize(
    ("action", "problem", "hint"),
    [
        (faults.unauthorized(), "refuses the key (401): Incorrect API key provided", "variable TEST_KEY"),
        (faults.error_in_200("invalid_api_key", "Wrong key"), "refuses the key (401)", "variable TEST_KEY"),
        (faults.payment_required(), "no credit left for this key (402): Insufficient", "run again"),
        (faults.error_in_200(402), "no credit left for this key (402)", "run again"),
        (faults.error_in_200("402"), "no credit left for this key (402)", "run again"),
        (faults.quota(), "no credit left for this key (429): You exceeded", "run again"),
        (faults.error_in_200("insufficient_quota"), "no credit left for this key (429)", "run again"),
        (faults.forbidden(), "forbids this (403): Your project", "key in TEST_KEY use the model 'm-1'?"),
        (faults.model_unknown(), "does not know the model 'm-1' (404)", "/v1/models lists the names"),
        (
            Action("404 ollama", lambda call: {"error": "model 'm-1' not found"}, status=404),
            "does not know the model 'm-1' (404): model 'm-1' not found",
            "/v1/models",
        ),
        (faults.not_an_api(), "/v1/chat/completions (404): a page for people: 404", "It mostly ends in /v1"),
        (faults.error(405, "Method Not Allowed"), "/v1/chat/completions (405): Method", "base URL"),
        (faults.unsupported("temperature"), "the parameter 'temperature'", "--dialect reasoning"),
        (faults.unsupported("max_tokens"), "the parameter 'max_tokens'", "--dialect reasoning"),
        (faults.unsupported("response_format"), "the parameter 'response_format'", "--structured off"),
        (faults.unsupported("seed"), "the parameter 'seed'", "leave out --param seed"),
        (
            faults.error(422, "Extra inputs are not permitted: seed"),
            "the parameter 'seed'",
            "leave out --param seed",
        ),
        (
            faults.error(400, "max_tokens is too large: 64. This model supports at most 16 of them."),
            "refuses the answer budget",
            "--max-tokens",
        ),
    ],
    ids=lambda value: name_of(value) or "",
)
def test_what_every_call_would_meet_ends_the_run(
    action: Action, problem: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    log = tmp_path / "log"

    def script(call: ReceivedCall) -> Action:
        return GOOD if call.number < 3 else action

    with ScriptedServer(script, latency=0.005) as server:
        options = options_for(server.base_url, api_key_env="TEST_KEY", extra={"seed": 7})
        asked = list(calls_of(options, 40))
        with pytest.raises(InputError) as stop:
            ask_all(options, log, asked)
        counts = server.counts
    assert problem in stop.value.problem
    assert hint in (stop.value.hint or "")
    assert isinstance(stop.value, UnsupportedParameterError) == ("the parameter" in problem)
    assert counts.calls <= 3 + options.concurrency
    assert counts.abandoned == 0
    # What was answered is kept, and what it all took.
    assert answered_in(log, asked) == 3
    assert sum(line["attempts"] for line in journal_of(log)) == counts.calls
    shown = f"{stop.value}{stop.value!r}{options!r}".encode()
    for part in (KEY[:8], KEY[-8:], KEY):
        assert part.encode() not in shown + log.read_bytes()


@pytest.mark.parametrize("key", ["sk-or-v1-0123456789abcdef", "plainwords", "Zm9vYmFyYmF6cXV4=="])
def test_a_key_that_an_endpoint_repeats_is_not_shown(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    shown = f"You sent {key}, that is {key[:8]}...{key[-6:]} or {key[:3]}*****{key[-4:]}."
    for number, status in enumerate((401, 500, 400)):
        with ScriptedServer(always(faults.error(status, shown))) as server:
            options = options_for(server.base_url, api_key_env="TEST_KEY", attempts=1)
            try:
                said = ask_one(options, tmp_path / f"log{number}").reason
            except InputError as error:
                said = str(error)
        assert "You sent [key], that is [key]...[key] or [key]" in said
        stored = (tmp_path / f"log{number}").read_bytes()
        assert key[:8].encode() not in stored and key[-6:].encode() not in stored
    assert key[:8] not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("action", "asked", "most"),
    [
        (faults.rate_limited(2), 2.0, 0.001),
        (faults.rate_limited(0.25), 0.25, 0.001),
        (faults.rate_limited(0.25, "milliseconds"), 0.25, 0.001),
        (
            replace(faults.rate_limited(3), headers=(("retry-after-ms", "soon"), ("retry-after", "3"))),
            3,
            0.001,
        ),
        (faults.rate_limited(60, "date"), 58.9, 1.2),
        (faults.rate_limited(120), 120, 0.001),
        (replace(faults.unavailable_page(), headers=(("retry-after", "5"),)), 5, 0.001),
        # Nothing that can be waited for: as long as for every other fault.
        (faults.rate_limited(-5), 0.0, 0.001),
        (replace(faults.rate_limited(), headers=(("retry-after", "later"),)), None, 0.0),
        (replace(faults.rate_limited(), headers=(("retry-after", "nan"),)), None, 0.0),
        (faults.rate_limited(None), None, 0.0),
    ],
    ids=lambda value: name_of(value) or "",
)
def test_the_wait_is_as_long_as_asked(
    action: Action, asked: float | None, most: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def pause(self: Any, seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(client_module.Client, "_pause", pause)
    with ScriptedServer(in_turn([action, GOOD])) as server:
        assert ask_one(options_for(server.base_url), tmp_path / "log").attempts == 2
    (seconds,) = waited
    if asked is None:
        assert SHORT_WAIT / 2 <= seconds <= SHORT_WAIT
    else:
        assert asked <= seconds <= asked + most


def test_waits_grow_up_to_a_bound_and_differ() -> None:
    for attempt in range(1, 20):
        longest = min(waits.LONGEST_OWN_WAIT, SHORT_WAIT * 2 ** (attempt - 1))
        drawn = {waits.pause(attempt) for _ in range(50)}
        assert longest / 2 <= min(drawn) and max(drawn) <= longest
        assert len(drawn) > 10
    assert math.isclose(min(waits.pause(1, 7.0) for _ in range(50)), 7.0, rel_tol=1e-3)


def test_thinking_that_eats_the_budget_from_the_start_ends_the_run(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with ScriptedServer(always(actions.reasoning_ate_budget(64))) as server:
        options = options_for(server.base_url)
        with pytest.raises(InputError, match=r"answer budget of 64 tokens .* \(3 of 3 calls\)") as stop:
            ask_all(options, log, calls_of(options, 20))
        assert server.counts.calls == 3
        assert server.counts.max_in_flight == 1
    assert "--max-tokens" in (stop.value.hint or "")
    # All three were paid for.
    assert [(line["status"], line["output"]) for line in journal_of(log)] == [("unparsed", 64)] * 3


def test_thinking_that_eats_the_budget_now_and_then_costs_single_answers(tmp_path: Path) -> None:
    def script(call: ReceivedCall) -> Action:
        return actions.reasoning_ate_budget(64) if call.number % 4 in (0, 1) else GOOD

    with ScriptedServer(script) as server:
        options = options_for(server.base_url)
        replies = ask_all(options, tmp_path / "log", calls_of(options, 20))
        assert server.counts.calls == 20
    assert sorted(reply.status for _, reply in replies) == ["ok"] * 10 + ["unparsed"] * 10


@pytest.mark.parametrize(
    "action", [faults.html_with_200(), faults.reset(), faults.close(), faults.cut_body()], ids=name_of
)
def test_an_address_that_is_no_api_ends_the_run(action: Action, tmp_path: Path) -> None:
    with ScriptedServer(always(action)) as server:
        options = options_for(server.base_url, attempts=2)
        with pytest.raises(InputError, match=r"no API at http://127.0.0.1:\d+/v1: ") as stop:
            ask_all(options, tmp_path / "log", calls_of(options, 20))
        assert server.counts.calls == 3
    assert "It mostly ends in /v1" in (stop.value.hint or "")


def test_a_base_url_without_its_path_and_an_address_where_nobody_listens(tmp_path: Path) -> None:
    nothing = r"nothing at http://127.0.0.1:\d+/chat/completions \(404\)"
    with ScriptedServer(always(GOOD)) as server, pytest.raises(InputError, match=nothing):
        ask_one(options_for(server.root), tmp_path / "log")
    with pytest.raises(InputError, match=r"no API at .*the connection failed: ConnectError"):
        ask_one(options_for(server.base_url), tmp_path / "log")


def test_before_the_first_answer_calls_go_one_at_a_time(tmp_path: Path) -> None:
    under_way: list[int] = []

    def script(call: ReceivedCall) -> Action:
        under_way.append(server.counts.in_flight)
        return faults.bad_request() if call.number < 2 else GOOD

    with ScriptedServer(script, latency=0.01) as server:
        options = options_for(server.base_url, concurrency=8)
        replies = ask_all(options, tmp_path / "log", calls_of(options, 40))
    assert under_way[:3] == [1, 1, 1]
    assert max(under_way) == server.counts.max_in_flight == 8
    assert len(replies) == 40


@pytest.mark.parametrize(
    ("script", "first", "attempts"),
    [
        (always(faults.server_error()), 3, 2),
        (always(faults.bad_request()), 3, 1),
        (always(faults.over_long_wait()), 3, 1),
        (in_turn([GOOD, faults.server_error()]), 8, 2),
        (in_turn([GOOD, faults.bad_request()]), 8, 1),
    ],
)
def test_one_failure_after_the_other_ends_the_run(
    script: Callable[[ReceivedCall], Action], first: int, attempts: int, tmp_path: Path
) -> None:
    with ScriptedServer(script) as server:
        options = options_for(server.base_url, attempts=2)
        with pytest.raises(
            InputError, match=r"^\d+ calls to .* failed one after the other, the last"
        ) as stop:
            ask_all(options, tmp_path / "log", calls_of(options, 60))
        counts = server.counts
    # Others may have ended in the same moment.
    assert first <= int(stop.value.problem.split()[0]) <= first + options.concurrency
    assert first * attempts <= counts.calls <= 1 + (first + options.concurrency) * attempts
    # The last ones are in the log like all others.
    assert sum(line["attempts"] for line in journal_of(tmp_path / "log")) == counts.calls


def test_failures_among_answers_end_nothing_and_can_be_asked_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hard = {f"```{number}```" for number in range(10, 40, 3)}
    kinds = [
        faults.bad_request(),
        faults.server_error(),
        faults.html_with_200(),
        actions.reasoning_ate_budget(),
        faults.reset(),
    ]

    def script(call: ReceivedCall) -> Action:
        return kinds[len(call.last_user) * call.number % 5] if call.last_user in hard else GOOD

    with ScriptedServer(script) as server:
        options = options_for(server.base_url, attempts=2)
        for run in range(3):
            monkeypatch.setattr(runs, "_STARTED", run)
            replies = ask_all(options, tmp_path / "log", calls_of(options, 40))
            failed = {call.subject for call, reply in replies if reply.status != "ok"}
            assert failed == hard
            assert all(reply.stored == (run > 0) for _, reply in replies if reply.status == "ok")
        # Alone, as in a run in which all other scores are there already.
        monkeypatch.setattr(runs, "_STARTED", 4)
        replies = ask_all(options, tmp_path / "log", (call_of(options, text) for text in sorted(hard)))
        assert {reply.status for _, reply in replies} <= {"failed", "unparsed"}
        assert len(replies) == len(hard)


def test_a_text_that_cannot_be_sent_fails_alone_and_proves_nothing(tmp_path: Path) -> None:
    with ScriptedServer(always(faults.server_error())) as server:
        options = options_for(server.base_url, attempts=1)
        broken = [call_of(options, f"half \ud83d {number}") for number in range(5)]
        replies = ask_all(options, tmp_path / "log", broken)
        assert server.counts.calls == 0
        assert {(reply.status, reply.attempts) for _, reply in replies} == {("failed", 0)}
        assert replies[0][1].reason == "a text cannot be sent: surrogates not allowed"
        with pytest.raises(InputError, match="3 calls to"):
            ask_all(options, tmp_path / "log", [*broken, *calls_of(options, 9)])
        assert (server.counts.calls, server.counts.max_in_flight) == (3, 1)
    with ScriptedServer(always(GOOD)) as server:
        options = options_for(server.base_url)
        reply = ask_one(options, tmp_path / "log", text="nul \x00 in it", subject="half \ud83d")
    assert reply.status == "ok"
    assert journal_of(tmp_path / "log")[-1]["subject"] == "half ?"


def test_a_run_that_ends_does_not_wait_out_the_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    def script(call: ReceivedCall) -> Action:
        if call.number == 0:
            return GOOD
        return faults.rate_limited(100) if call.number < 3 else faults.payment_required()

    with ScriptedServer(script) as server:
        options = options_for(server.base_url)
        began = time.monotonic()
        with pytest.raises(InputError, match="no credit left"):
            ask_all(options, tmp_path / "log", calls_of(options, 9))
    assert time.monotonic() - began < 5


def test_errors_of_calls_that_ended_together_are_not_complained_about(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def script(call: ReceivedCall) -> Action:
        return GOOD if call.number == 0 else actions.slow(faults.payment_required(), 0.02)

    with ScriptedServer(script) as server:
        options = options_for(server.base_url, concurrency=16)
        with pytest.raises(InputError, match="no credit left"):
            ask_all(options, tmp_path / "log", calls_of(options, 40))
    import gc

    gc.collect()
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_packed_answers_are_unpacked(tmp_path: Path) -> None:
    packed = Action(
        "gzip", lambda call: gzip.compress(GOOD.body_for(call)), headers=(("content-encoding", "gzip"),)
    )
    with ScriptedServer(always(packed)) as server:
        assert ask_one(options_for(server.base_url), tmp_path / "log").text == "85"
