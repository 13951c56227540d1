"""Endpoints that do not keep to what was agreed: endless, huge, talkative, dearer than asked for."""

from __future__ import annotations

import gzip
import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from asking import KEY, SHORT_WAIT, ask_all, ask_one, calls_of, options_for
from scripted_actions import Action, ok
from scripted_scripts import always
from scripted_server import ScriptedServer

from challenge_sets import InputError
from metrics.llm import client as client_module
from metrics.llm import waits
from metrics.llm.calls import Usage

PRICES = '[models."m-1"]\ninput = 2.0\noutput = 10.0\n'


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "FIRST_WAIT", SHORT_WAIT)


@contextmanager
def dripping() -> Iterator[str]:
    """A server that sends white space, a byte at a time, and never comes to an end."""
    over = threading.Event()

    class Drip(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            try:
                while not over.wait(0.05):
                    self.wfile.write(b" ")
            except OSError:
                pass

        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Drip)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        over.set()
        server.shutdown()
        server.server_close()


def test_a_response_that_drips_ends_with_the_timeout(tmp_path: Path) -> None:
    with dripping() as url:
        began = time.monotonic()
        reply = ask_one(options_for(url, timeout=0.3, attempts=2), tmp_path / "log")
        assert time.monotonic() - began < 10
    assert (reply.status, reply.attempts) == ("failed", 2)
    assert reply.reason == "no answer within 0.3 seconds (tried 2 times)"


def test_a_response_without_measure_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_LARGEST", 1_000_000)
    packed = gzip.compress(b" " * 50_000_000)
    bomb = Action("bomb", lambda call: packed, headers=(("content-encoding", "gzip"),))
    with ScriptedServer(always(bomb)) as server:
        reply = ask_one(options_for(server.base_url), tmp_path / "log")
        assert server.counts.calls == 1
    assert reply.status == "failed" and reply.reason.startswith("the response is larger than")


@pytest.mark.parametrize("finish", [None, "STOP", "eos"])
def test_answers_that_could_never_be_final_are_not_paid_for_to_the_end(
    finish: str | None, tmp_path: Path
) -> None:
    with ScriptedServer(always(ok("85", finish_reason=finish))) as server:  # type: ignore[arg-type]
        options = options_for(server.base_url, concurrency=8)
        with pytest.raises(InputError, match=r"finish_reason is .*, only 'stop' ends one"):
            ask_all(options, tmp_path / "log", calls_of(options, 100))
        assert server.counts.calls == 3


def test_a_key_that_comes_back_reaches_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    with ScriptedServer(always(ok(f"You sent Bearer {KEY}.", model=f"m-1 {KEY}"))) as server:
        reply = ask_one(options_for(server.base_url, api_key_env="JUDGE_KEY"), tmp_path / "log")
    assert (reply.text, reply.model) == ("You sent Bearer [key].", "m-1 [key]")
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 11, "total_tokens": 18}, Usage(7, 11)),
        (
            # Thinking beside what was said, with and without a total.
            {
                "prompt_tokens": 7,
                "completion_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 400},
            },
            Usage(7, 420, 400),
        ),
        ({"prompt_tokens": 7, "completion_tokens": 20, "total_tokens": 500}, Usage(7, 493)),
        (
            # Thinking within.
            {
                "prompt_tokens": 7,
                "completion_tokens": 420,
                "total_tokens": 427,
                "completion_tokens_details": {"reasoning_tokens": 400},
            },
            Usage(7, 420, 400),
        ),
        ({"prompt_tokens": 7, "total_tokens": 500}, Usage(7, None)),
    ],
)
def test_thinking_is_paid_for_wherever_it_is_counted(usage: dict, counted: Usage) -> None:
    assert Usage.of(usage) == counted


def test_an_endpoint_that_goes_beyond_its_budget_is_trusted_less(tmp_path: Path) -> None:
    """One call may cost more than it can by the rules; the limit holds for what comes after."""
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES, encoding="utf-8")
    dear = ok("85", prompt_tokens=1_000, completion_tokens=10_000)
    with ScriptedServer(always(dear)) as server:
        options = options_for(
            server.base_url, model="m-1", max_tokens=64, prices=prices, max_cost=0.5, concurrency=1
        )
        replies = ask_all(options, tmp_path / "log", calls_of(options, 20))
        calls = server.counts.calls
    assert sum(reply.status == "ok" for _, reply in replies) == calls
    assert calls * (2 * 1_000 + 10 * 10_000) / 1e6 <= 0.5 and calls >= 3


@pytest.mark.parametrize("status", [302, 307, 308])
def test_texts_are_not_sent_on_to_another_address(status: int, tmp_path: Path) -> None:
    with ScriptedServer(always(ok("85"))) as other:
        location = (("location", f"{other.base_url}/chat/completions"),)
        away = Action("away", lambda call: b"", status=status, headers=location)
        with ScriptedServer(always(away)) as server:
            with pytest.raises(InputError, match=rf"sends calls on to another address \({status}\)"):
                ask_one(options_for(server.base_url), tmp_path / "log")
            assert (server.counts.calls, other.counts.calls) == (1, 0)
