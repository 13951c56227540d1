"""The scripted server does what it says, seen by the real client or, where that hides it, a socket."""

from __future__ import annotations

import asyncio
import json
import socket
import time
import urllib.request
from email.utils import parsedate_to_datetime
from typing import Any

import openai
import pytest
import scripted_actions as actions
import scripted_faults as faults
from openai import AsyncOpenAI, OpenAI
from scripted_actions import Action, ReceivedCall, body_key, ok, slow
from scripted_scripts import always, in_turn
from scripted_server import ScriptedServer, server_process

KEY = "sk-test-abcdefgh-wxyz"
ASKED: dict[str, Any] = {"model": "m-1", "messages": [{"role": "user", "content": "Rate ```eins zwei```."}]}


def client_of(server: ScriptedServer, timeout: float = 10.0) -> OpenAI:
    return OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0, timeout=timeout)


def ask(server: ScriptedServer, timeout: float = 10.0, **fields: Any) -> Any:
    with client_of(server, timeout) as client:
        return client.chat.completions.create(**(ASKED | fields))


def raw(server: ScriptedServer, timeout: float = 0.3) -> bytes:
    """Everything that comes over the wire for one call, until it closes or says nothing for the time."""
    body = json.dumps(ASKED).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as connection:
        connection.sendall(head + body)
        got = b""
        while part := connection.recv(65_536):
            got += part
        return got


def test_a_completion_says_what_it_was_told_and_is_charged() -> None:
    said = ok(
        "85", prompt_tokens=7, completion_tokens=11, reasoning_tokens=9, cached_tokens=3, x_provider="p"
    )
    with ScriptedServer(always(said)) as server:
        completion = ask(server)
        seen = server.counts
    choice = completion.choices[0]
    assert (choice.message.content, choice.finish_reason, completion.model) == ("85", "stop", "m-1")
    assert completion.usage.completion_tokens_details.reasoning_tokens == 9
    assert completion.usage.prompt_tokens_details.cached_tokens == 3
    assert completion.x_provider == "p"
    assert (seen.prompt_tokens, seen.completion_tokens, seen.tokens) == (7, 11, 18)
    assert seen.received == seen.answered == {body_key(ASKED): 1}
    assert (seen.calls, seen.in_flight, seen.max_in_flight) == (1, 0, 1)
    assert seen.actions == {"ok": 1}
    assert seen.routes == {"POST /chat/completions": 1}
    assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.calls[0].last_user == "Rate ```eins zwei```."


@pytest.mark.parametrize(
    ("action", "status", "code", "words"),
    [
        (faults.rate_limited(), 429, "rate_limit_exceeded", "Rate limit"),
        (faults.over_long_wait(), 429, "rate_limit_exceeded", "Rate limit"),
        (faults.quota(), 429, "insufficient_quota", "quota"),
        (faults.server_error(), 500, None, "server had an error"),
        (faults.unavailable_page(), 503, None, "<!DOCTYPE html>"),
        (faults.request_timeout(), 408, None, "timed out"),
        (faults.conflict(), 409, None, "locked"),
        (faults.unauthorized(), 401, "invalid_api_key", "sk-test-*********wxyz"),
        # The client turns the number into a string.
        (faults.payment_required(), 402, "402", '"code": 402'),
        (faults.forbidden(), 403, "model_not_available", "does not have access"),
        (faults.model_unknown(), 404, "model_not_found", "`m-1` does not exist"),
        (faults.not_an_api(), 404, None, "404 Not Found"),
        (faults.context_length(), 400, "context_length_exceeded", "maximum context length is 8192"),
        (faults.content_filter(), 400, "content_filter", "content management policy"),
        (faults.unsupported("temperature"), 400, "unsupported_value", "'temperature'"),
        (faults.unsupported("max_tokens"), 400, "unsupported_parameter", "max_completion_tokens"),
        (faults.unsupported("response_format"), 400, "unsupported_parameter", "'response_format'"),
        (faults.bad_request(), 400, None, "could not parse"),
    ],
    ids=lambda value: value.name if isinstance(value, Action) else "",
)
def test_refusals(action: Action, status: int, code: str | None, words: str) -> None:
    with ScriptedServer(always(action)) as server, pytest.raises(openai.APIStatusError) as refused:
        ask(server)
    assert refused.value.status_code == status
    assert refused.value.code == code
    assert words in refused.value.response.text
    assert server.counts.answered == {}
    assert server.counts.tokens == 0
    assert server.counts.actions == {action.name: 1}


@pytest.mark.parametrize(
    ("action", "name", "value"),
    [
        (faults.rate_limited(2), "retry-after", "2"),
        (faults.rate_limited(0.25), "retry-after", "0.25"),
        (faults.rate_limited(0.25, "milliseconds"), "retry-after-ms", "250"),
        (faults.over_long_wait(), "retry-after", "1000"),
        (faults.rate_limited(None), "retry-after", None),
    ],
)
def test_how_long_to_wait(action: Action, name: str, value: str | None) -> None:
    with ScriptedServer(always(action)) as server, pytest.raises(openai.RateLimitError) as refused:
        ask(server)
    assert refused.value.response.headers.get(name) == value


def test_how_long_to_wait_as_a_date() -> None:
    script = always(faults.rate_limited(30, "date"))
    with ScriptedServer(script) as server, pytest.raises(openai.RateLimitError) as refused:
        ask(server)
    then = parsedate_to_datetime(refused.value.response.headers["retry-after"]).timestamp()
    assert 25 < then - time.time() <= 30


@pytest.mark.parametrize(
    ("action", "content", "finish_reason", "refusal"),
    [
        (actions.null_content(), None, "stop", None),
        (actions.empty_content(), "", "stop", None),
        (actions.refusal("No."), None, "stop", "No."),
        (actions.out_of_length("Criti"), "Criti", "length", None),
        (actions.filtered("8"), "8", "content_filter", None),
        (actions.reasoning_ate_budget(64), "", "length", None),
        (actions.tool_calls(), None, "tool_calls", None),
        (actions.lone_surrogate(), "Score: \ud83d 85", "stop", None),
        (actions.nul_character(), "8\x005", "stop", None),
        (actions.very_large(), "x" * 5_000_000, "stop", None),
    ],
    ids=lambda value: value.name if isinstance(value, Action) else "",
)
def test_odd_completions(
    action: Action, content: str | None, finish_reason: str, refusal: str | None
) -> None:
    with ScriptedServer(always(action)) as server:
        choice = ask(server).choices[0]
        counts = server.counts
    got = (choice.message.content, choice.finish_reason, choice.message.refusal)
    assert got == (content, finish_reason, refusal)
    usable = finish_reason == "stop" and bool(content)
    assert list(counts.answered.values()) == ([1] if usable else [])
    assert counts.tokens > 0


def test_completions_without_what_belongs_to_them() -> None:
    answers = [
        actions.empty_choices(),
        actions.null_choices(),
        actions.no_usage(),
        actions.null_usage(),
        actions.other_model("m-2"),
        actions.reasoning_ate_budget(64),
        actions.tool_calls(),
        faults.error_in_200(),
        faults.error_in_200("server_error"),
        faults.html_with_200(),
    ]
    with ScriptedServer(in_turn(answers)) as server:
        got = [ask(server) for _ in answers]
        asked = server.counts.actions
    empty, null, unused, unknown, other, spent, called, failed, named, page = got
    assert empty.choices == []
    assert null.choices is None
    assert unused.usage is None
    assert unknown.usage.completion_tokens is None
    assert other.model == "m-2"
    assert spent.usage.completion_tokens == spent.usage.completion_tokens_details.reasoning_tokens == 64
    assert called.choices[0].message.tool_calls[0].function.name == "rate"
    assert (failed.choices, failed.error["code"], named.error["code"]) == (None, 502, "server_error")
    assert isinstance(page, str) and "Sign in" in page
    assert sum(asked.values()) == len(answers)


@pytest.mark.parametrize(
    ("action", "raised"),
    [
        (faults.hang(), openai.APITimeoutError),
        (faults.stalled_body(), openai.APITimeoutError),
        (faults.reset(), openai.APIConnectionError),
        (faults.close(), openai.APIConnectionError),
        (faults.cut_body(), openai.APIConnectionError),
        (faults.bad_json(), json.JSONDecodeError),
        (faults.bad_utf8(), UnicodeDecodeError),
    ],
    ids=lambda value: value.name if isinstance(value, Action) else "",
)
def test_broken_answers(action: Action, raised: type[Exception]) -> None:
    with ScriptedServer(always(action)) as server:
        with pytest.raises(raised):
            ask(server, timeout=0.3)
        counts = _settled(server)
    assert counts.tokens == 0
    assert counts.answered == {}
    assert counts.abandoned == (raised is openai.APITimeoutError)


def _settled(server: ScriptedServer) -> Any:
    # The server learns a little later that a client is gone.
    end = time.monotonic() + 5
    while server.counts.in_flight and time.monotonic() < end:
        time.sleep(0.005)
    assert server.counts.in_flight == 0
    return server.counts


def test_broken_connections_on_the_wire() -> None:
    with ScriptedServer(always(faults.reset())) as server, pytest.raises(ConnectionResetError):
        raw(server)
    with ScriptedServer(always(faults.close())) as server:
        assert raw(server) == b""
    with ScriptedServer(always(faults.cut_body())) as server:
        head, _, body = raw(server).partition(b"\r\n\r\n")
    promised = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
    assert promised // 2 == len(body)
    for action in (faults.hang(), faults.stalled_body()):
        with ScriptedServer(always(action)) as server, pytest.raises(TimeoutError):
            raw(server, timeout=0.1)
    with ScriptedServer(always(actions.lone_surrogate())) as server, pytest.raises(TimeoutError):
        raw(server, timeout=0.1)  # Keep-alive: the connection stays open behind a whole answer.


def test_connections_are_kept() -> None:
    with ScriptedServer() as server, client_of(server) as client:
        for _ in range(3):
            client.chat.completions.create(**ASKED)
        assert len(server._connections) == 1


def test_a_hang_ends_with_the_server() -> None:
    async def ask_and_close(server: ScriptedServer) -> None:
        async with AsyncOpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
            waiting = asyncio.create_task(client.chat.completions.create(**ASKED))
            while server.counts.in_flight == 0:
                await asyncio.sleep(0.005)
            server.__exit__(None, None, None)
            with pytest.raises(openai.APIConnectionError):
                await waiting

    asyncio.run(ask_and_close(ScriptedServer(always(faults.hang())).__enter__()))


def test_latency_and_calls_in_flight() -> None:
    async def ask_all(server: ScriptedServer) -> None:
        async with AsyncOpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
            await asyncio.gather(*(client.chat.completions.create(**ASKED) for _ in range(8)))

    with ScriptedServer(always(slow(ok("85"), 0.1)), latency=0.1) as server:
        start = time.perf_counter()
        asyncio.run(ask_all(server))
        assert time.perf_counter() - start > 0.2
        assert server.counts.max_in_flight == 8
        assert server.counts.received == server.counts.answered == {body_key(ASKED): 8}
        assert [call.attempt for call in server.calls] == list(range(8))


def test_a_wrong_key_an_unknown_model_and_a_wrong_address() -> None:
    with ScriptedServer(expected_key=KEY, models=("m-1",)) as server:
        ask(server)
        with pytest.raises(openai.NotFoundError, match="m-2"):
            ask(server, model="m-2")
        with client_of(server) as client:
            assert [model.id for model in client.models.list()] == ["m-1"]
            assert client.models.retrieve("m-1").id == "m-1"
            with pytest.raises(openai.NotFoundError):
                client.models.retrieve("m-2")
            with pytest.raises(openai.AuthenticationError, match=r"wrong-ke\*+last"):
                client.with_options(api_key="wrong-key-at-last").chat.completions.create(**ASKED)
            with pytest.raises(openai.AuthenticationError):
                client.with_options(api_key="wrong-key-at-last").models.list()
            with pytest.raises(openai.NotFoundError) as wrong:
                client.with_options(base_url=server.root).chat.completions.create(**ASKED)
            assert wrong.value.response.text.startswith("<!DOCTYPE")
        assert server.counts.actions == {"ok": 1, "404 model": 1, "401": 1}


def test_a_server_entered_again_keeps_its_port_and_its_counts() -> None:
    server = ScriptedServer()
    with server:
        port = server.port
        ask(server)
    with pytest.raises(openai.APIConnectionError):
        ask(server)
    with server:
        ask(server)
        assert (server.port, server.counts.calls) == (port, 2)


def test_an_error_in_a_script_is_not_hidden() -> None:
    def broken(call: ReceivedCall) -> Action:
        raise KeyError("no such answer")

    with pytest.raises(KeyError, match="no such answer"), ScriptedServer(broken) as server:
        with pytest.raises(openai.InternalServerError):
            ask(server)
        assert server.counts.in_flight == 0


def test_as_a_process() -> None:
    with server_process("--answers", "number", "--expected-key", KEY, "--latency", "0.01") as url:
        with OpenAI(base_url=url, api_key=KEY, max_retries=0) as client:
            assert client.chat.completions.create(**ASKED).choices[0].message.content.isdigit()
        with urllib.request.urlopen(url.removesuffix("v1") + "_counts") as answer:
            counts = json.load(answer)
    assert counts["received"] == counts["answered"] == {body_key(ASKED): 1}
    assert (counts["calls"], counts["in_flight"], counts["max_in_flight"]) == (1, 0, 1)
    assert counts["tokens"] == counts["prompt_tokens"] + counts["completion_tokens"] > 0
