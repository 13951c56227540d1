"""What a response means, as a table and for anything at all that an endpoint may send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asking import KEY, options_for
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.llm.calls import Usage
from metrics.llm.exchanges import Outcome, read_exchange, redacted

OPTIONS = options_for("https://host.example/v1", extra={"seed": 7})


def read(status: int, body: object, **headers: str) -> Outcome:
    text = body if isinstance(body, str) else json.dumps(body)
    return read_exchange(
        status, {name.replace("_", "-"): value for name, value in headers.items()}, text, OPTIONS, KEY
    )


def completion(text: object = "85", finish: object = "stop", **fields: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": text} | fields
    usage = {"prompt_tokens": 7, "completion_tokens": 11}
    return {"model": "m-1", "choices": [{"message": message, "finish_reason": finish}], "usage": usage}


def kind_of(outcome: Outcome) -> str:
    if outcome.problem is not None:
        return "stop"
    return "again" if outcome.reply is None else outcome.reply.status


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"message": "This model's maximum context length is 8192 tokens."}, "truncated"),
        (400, {"message": "Input is too long: the prompt exceeds the context window."}, "truncated"),
        (
            400,
            # vLLM, whose parameter is named beside the length of the texts.
            {"message": "'max_tokens' is too large: 64. This model's maximum context length is 50 tokens"},
            "truncated",
        ),
        (400, {"message": "max_tokens must be at least 1", "param": "max_tokens"}, "stop"),
        (400, {"message": "Unrecognized request argument supplied: seed"}, "stop"),
        (400, {"message": "Unknown field: colour"}, "failed"),
        (400, {"message": "Your prompt was flagged", "code": "content_policy_violation"}, "failed"),
        (422, {"message": "response_format: Extra inputs are not permitted"}, "stop"),
        (413, {"message": "Payload Too Large"}, "truncated"),
        (413, {"message": "Request body is too large"}, "truncated"),
        (403, {"message": "Country not supported", "code": "unsupported_country_region_territory"}, "stop"),
        (403, {"message": "Input was flagged by moderation"}, "failed"),
        (403, {"message": "Quota", "type": "insufficient_quota"}, "stop"),
        (409, {"message": "locked"}, "again"),
        (425, {"message": "too early"}, "again"),
        (429, {"message": "slow down", "code": "rate_limit_exceeded"}, "again"),
        (429, {"message": "pay", "type": "insufficient_quota", "code": None}, "stop"),
        (429, {"message": "pay", "code": "billing_hard_limit_reached"}, "stop"),
        (500, {"message": "oops"}, "again"),
        (599, {"message": "oops"}, "again"),
        (418, {"message": "teapot"}, "failed"),
        (302, {"message": "elsewhere"}, "stop"),
        (200, {"message": "oops", "code": 502}, "again"),
        (200, {"message": "oops", "code": "502"}, "again"),
        (200, {"message": "oops", "code": "anything"}, "again"),
        (200, {"message": "oops", "code": None}, "again"),
        (200, {"message": "oops", "code": True}, "again"),
        (200, {"message": "oops", "code": 0}, "again"),
        (200, {"message": "pay", "code": 402}, "stop"),
        (200, {"message": "pay", "code": "402"}, "stop"),
        (200, {"message": "pay", "type": "insufficient_quota"}, "stop"),
        (200, {"message": "no", "code": 403}, "stop"),
        (200, {"message": "flagged", "code": 403, "metadata": {"reasons": ["moderation"]}}, "failed"),
        (200, {"message": "long", "code": "context_length_exceeded"}, "truncated"),
        (200, {"message": "no", "code": "content_filter"}, "failed"),
        (200, {"message": "slow", "code": 429}, "again"),
        (200, "overloaded", "again"),
        (200, ["overloaded"], "again"),
    ],
)
def test_errors(status: int, error: object, kind: str) -> None:
    outcome = read(status, {"error": error})
    assert kind_of(outcome) == kind
    assert not outcome.answered and not outcome.lost and outcome.usage == Usage()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "vLLM's way", "type": "BadRequestError", "code": 418}, "vLLM's way"),
        ({"detail": "FastAPI's way"}, "FastAPI's way"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
        ({"error": "Ollama's way"}, "Ollama's way"),
        (
            {"error": {"message": "OpenRouter's", "metadata": {"raw": "inner"}}},
            'OpenRouter\'s {"raw": "inner"}',
        ),
        ("plain text", "plain text"),
        ("<html><head><title>Bad Gateway</title></head></html>", "a page for people: Bad Gateway"),
        ("<html></html>", "a page for people"),
        ("", "no message"),
        ('"a string"', "a string"),
        ("null", "null"),
    ],
)
def test_what_errors_say(body: object, said: str) -> None:
    reply = read(418, body).reply
    assert reply is not None
    assert said in reply.reason and reply.reason.endswith(" (status 418)")


def test_errors_are_bounded_and_in_one_line() -> None:
    reply = read(418, {"error": {"message": "a\n\tb\x00 " + "long " * 5000}}).reply
    assert reply is not None
    assert reply.reason.startswith("refused: a b\\u0000 long") and len(reply.reason) < 350
    assert "\n" not in reply.reason


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry_after": "7"}, 7, 7),
        ({"retry_after": " 7.5 "}, 7.5, 7.5),
        ({"retry_after_ms": "250", "retry_after": "7"}, 0.25, 0.25),
        ({"retry_after_ms": "x", "retry_after": "7"}, 7, 7),
        ({"retry_after": "-1"}, 0, 0),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, 0),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0, 0),
        ({}, None, None),
        ({"retry_after": ""}, None, None),
        ({"retry_after": "soon"}, None, None),
        ({"retry_after": "inf"}, None, None),
        ({"retry_after": "Wed, 99 Oct 2015 07:28:00 GMT"}, None, None),
        ({"retry_after": "Wed, 21 Oct 99999 07:28:00 GMT"}, None, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], low: float | None, high: float | None) -> None:
    outcome = read(429, {"error": {"message": "slow"}}, **headers)
    assert outcome.reply is None
    assert outcome.wait is None if low is None else low <= (outcome.wait or 0) <= (high or 0)


@pytest.mark.parametrize("after", ["120.5", "1e9", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_whoever_asks_for_too_long_a_wait_is_not_waited_for(after: str) -> None:
    outcome = read(429, {"error": {"message": "slow"}}, retry_after=after)
    assert outcome.reply is not None and outcome.unwell
    assert outcome.reply.status == "failed"
    assert outcome.reply.reason.startswith("the endpoint asks to wait ")


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (completion(), "ok", "85"),
        (
            completion([{"type": "text", "text": "8"}, {"type": "text", "text": "5"}, 3, {"text": 5}]),
            "ok",
            "85",
        ),
        (completion(error=None) | {"error": None}, "ok", "85"),
        (completion(refusal=""), "ok", "85"),
        (completion(reasoning_content="long thoughts"), "ok", "85"),
        (completion(" \n"), "again", ""),
        (completion(None), "again", ""),
        (completion(85), "again", ""),
        (completion({"text": "85"}), "again", ""),
        (completion("8", "length"), "unparsed", "8"),
        (completion("8", "model_length"), "unparsed", "8"),
        (completion(" ", "length"), "unparsed", " "),
        (completion("8", "content_filter"), "failed", "8"),
        (completion("8", "error"), "again", ""),
        (completion("8", "insufficient_system_resource"), "again", ""),
        (completion("8", "tool_calls"), "failed", "8"),
        (completion("85", None), "failed", "85"),
        (completion("85", ""), "failed", "85"),
        (completion("85", ["stop"]), "failed", "85"),
        (completion("85", "STOP"), "failed", "85"),
        (completion("85", refusal="No."), "failed", "No."),
        ({"choices": []}, "again", ""),
        ({"choices": [None]}, "again", ""),
        ({"choices": [{}]}, "again", ""),
        ({"choices": [{"message": None, "finish_reason": "stop"}]}, "again", ""),
        ({"choices": [{"text": "85", "finish_reason": "stop"}]}, "again", ""),
        ({"choices": {"0": completion()["choices"][0]}}, "again", ""),
        ({}, "again", ""),
    ],
)
def test_answers(body: dict[str, Any], kind: str, text: str) -> None:
    outcome = read(200, body)
    assert kind_of(outcome) == kind
    assert outcome.answered
    assert outcome.usage == (Usage(7, 11) if "usage" in body else Usage())
    if outcome.reply is not None:
        assert (outcome.reply.text, outcome.reply.usage) == (text, outcome.usage)


@pytest.mark.parametrize("body", ["", "85", "[]", "null", "{", '{"choices"', "data: {}", "[" * 100_000])
def test_what_is_no_answer_at_all(body: str) -> None:
    outcome = read(200, body)
    assert kind_of(outcome) == "again"
    # Nobody can tell whether the model was at work.
    assert outcome.lost and not outcome.alien


def test_a_page_is_no_answer_and_no_sign_of_an_api() -> None:
    outcome = read(200, "  <!DOCTYPE html><title>Sign in</title>")
    assert kind_of(outcome) == "again" and outcome.alien and not outcome.lost


NAMES = [
    *("error", "choices", "message", "content", "refusal", "finish_reason", "usage", "model"),
    *("code", "type", "param", "metadata", "detail", "prompt_tokens", "completion_tokens"),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["stop", "length", "insufficient_quota", "\ud800", 402, 429]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(st.integers(200, 600), JSON, st.text(), st.booleans())
def test_whatever_comes_is_understood_or_is_no_answer(
    status: int, value: object, after: str, read_already: bool
) -> None:
    body = value if read_already and not isinstance(value, str) else json.dumps(value)
    outcome = read_exchange(status, {"retry-after": after}, body, OPTIONS, KEY)
    assert (outcome.reply is not None) + (outcome.problem is not None) + bool(outcome.reason) == 1
    if outcome.reply is not None:
        reply = outcome.reply
        for text in (reply.text, reply.reason, reply.finish, reply.model):
            text.encode("utf-8")
        assert (reply.status == "ok") == (reply.reason == "")
        assert reply.status != "ok" or (status == 200 and reply.finish == "stop" and reply.text.strip())


@given(st.text(), st.text())
def test_a_key_is_never_part_of_a_message(before: str, after: str) -> None:
    said = redacted(f"{before}{KEY}{after} {KEY[:9]}{after}{KEY[-7:]}", KEY)
    assert KEY[:9] not in said and KEY[-7:] not in said
    said.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Incorrect key: sk-proj-abc1234567.", "Incorrect key: [key]"),
        ("Incorrect key: sk-ab****wxyz, sorry", "Incorrect key: [key], sorry"),
        ("Incorrect key: Zm9****Y=, sorry", "Incorrect key: [key], sorry"),
        ("Authorization: Bearer abcdef was refused", "Authorization: [key] was refused"),
        ("a context_length_exceeded error in **bold** for-profit risk-averse", None),
    ],
)
def test_what_looks_like_a_key_is_not_shown(text: str, shown: str | None) -> None:
    assert redacted(text) == (text if shown is None else shown)


def test_long_messages_are_redacted_fast() -> None:
    # For ever, where a pattern looks at everything that follows again and again.
    for text in ("x", "sk-", "Bearer", "a*"):
        assert len(redacted(text * 1_000_000, KEY)) == 300
