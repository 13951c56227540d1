"""What a scripted server can answer: completions as they should be, and every odd kind of completion."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Ending = Literal["sent", "hang", "reset", "close", "cut", "stall"]
ECHO: Any = object()
"""Stands for what the call asked for, or for a count of its tokens."""


def body_key(body: object) -> str:
    """A short hash of a request body, the same for every order of keys and every spelling of the JSON."""
    plain = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(plain.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class ReceivedCall:
    """One request for a completion: ``attempt`` counts how often exactly this body came before.

    ``number`` counts all calls of the server from 0, ``batch`` says that it is a line of a batch file.
    Header names are in lower case.
    """

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    key: str
    attempt: int
    number: int
    batch: bool = False

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def last_user(self) -> str:
        """The text of the last user message, or nothing."""
        for message in reversed(self.body.get("messages", [])):
            if message.get("role") == "user":
                content = message.get("content")
                return content if isinstance(content, str) else json.dumps(content, sort_keys=True)
        return ""


@dataclass(frozen=True, slots=True)
class Action:
    """One answer to one call. ``answer`` makes the body: bytes as they are, anything else as JSON.

    ``ending``: ``sent`` in full; ``hang`` never; ``reset`` and ``close`` without a byte; ``cut`` and
    ``stall`` half-way through the body, the one by closing, the other by silence. ``latency`` is in seconds.
    ``usable``: a whole answer that nobody has to ask for again. ``retry_date``: ``Retry-After`` as the
    date so many seconds from now. ``takes_effect``: the request does what it does although its answer is
    lost (files and batches only).
    """

    name: str
    answer: Callable[[ReceivedCall], object]
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    ending: Ending = "sent"
    latency: float = 0.0
    usable: bool = False
    retry_date: float | None = None
    takes_effect: bool = False

    def body_for(self, call: ReceivedCall) -> bytes:
        """The body as it goes over the wire."""
        return encoded(self.answer(call))


def encoded(answer: object) -> bytes:
    """Bytes as they are, anything else as JSON: in UTF-8, with escapes only where UTF-8 cannot hold it."""
    if isinstance(answer, bytes):
        return answer
    try:
        return json.dumps(answer, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(answer).encode()


def ok(
    text: str | None,
    *,
    model: str | None = None,
    finish_reason: str | None = "stop",
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    reasoning_tokens: int = 0,
    cached_tokens: int = 0,
    usage: Any = ECHO,
    refusal: str | None = None,
    message: Mapping[str, Any] | None = None,
    name: str = "ok",
    **fields: object,
) -> Action:
    """A completion. Tokens that are not given are a quarter of the characters, at least 1.

    ``usage`` replaces the whole object (``None``: no such key), ``message`` adds to the message and
    ``fields`` to the completion. The model is the one that was asked for, unless another one is named.
    """

    def answer(call: ReceivedCall) -> object:
        said = {"role": "assistant", "content": text, "refusal": refusal, **(message or {})}
        choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": finish_reason}
        completion: dict[str, Any] = {
            "id": f"chatcmpl-{call.number}",
            "object": "chat.completion",
            "created": 1_750_000_000,
            "model": model or call.model,
            "choices": [choice],
            "system_fingerprint": "fp_scripted",
        }
        if usage is ECHO:
            asked = prompt_tokens if prompt_tokens is not None else _tokens(_prompt(call))
            spent = completion_tokens if completion_tokens is not None else _tokens(text or "")
            completion["usage"] = {
                "prompt_tokens": asked,
                "completion_tokens": spent,
                "total_tokens": asked + spent,
                "prompt_tokens_details": {"cached_tokens": cached_tokens},
                "completion_tokens_details": {"reasoning_tokens": reasoning_tokens},
            }
        elif usage is not None:
            completion["usage"] = usage
        return completion | fields

    whole = finish_reason == "stop" and bool(text) and refusal is None and "choices" not in fields
    return Action(name, answer, usable=whole)


def _prompt(call: ReceivedCall) -> str:
    return "".join(str(message.get("content", "")) for message in call.body.get("messages", []))


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)


def slow(action: Action, seconds: float) -> Action:
    """The same, so many seconds later."""
    return replace(action, latency=action.latency + seconds)


def lost(action: Action) -> Action:
    """For files and batches: the request has its effect, and its answer is this one."""
    return replace(action, name=f"lost {action.name}", takes_effect=True)


def empty_choices() -> Action:
    return ok("85", name="empty choices", choices=[])


def null_choices() -> Action:
    return ok("85", name="null choices", choices=None)


def null_content() -> Action:
    return ok(None, name="null content", completion_tokens=1)


def empty_content() -> Action:
    return ok("", name="empty content")


def refusal(text: str = "I'm sorry, but I can't help with that.") -> Action:
    return ok(None, refusal=text, name="refusal", completion_tokens=_tokens(text))


def out_of_length(text: str = 'Critical:\nno-error\nMajor:\naccuracy/mistranslation - "ba') -> Action:
    """A text that ran into the token limit."""
    return ok(text, finish_reason="length", name="length")


def reasoning_ate_budget(tokens: int = 512) -> Action:
    """Every token of the answer went into reasoning, none was left for the text."""
    return ok(
        "",
        finish_reason="length",
        name="reasoning ate the budget",
        completion_tokens=tokens,
        reasoning_tokens=tokens,
    )


def filtered(text: str = "") -> Action:
    """Stopped by the content filter, with whatever came before."""
    return ok(text, finish_reason="content_filter", name="content filter stop")


def tool_calls() -> Action:
    called = {"id": "call_0", "type": "function", "function": {"name": "rate", "arguments": "{}"}}
    return ok(None, finish_reason="tool_calls", message={"tool_calls": [called]}, name="tool calls")


def no_usage(text: str = "85") -> Action:
    return ok(text, usage=None, name="no usage")


def null_usage(text: str = "85") -> Action:
    """A usage object whose counts are null."""
    nothing = {
        "prompt_tokens": None,
        "completion_tokens": None,
        "total_tokens": None,
        "completion_tokens_details": None,
    }
    return ok(text, usage=nothing, name="null usage")


def other_model(model: str = "some-other-model-0613", text: str = "85") -> Action:
    return ok(text, model=model, name="other model")


def very_large(characters: int = 5_000_000) -> Action:
    return ok("x" * characters, name="very large")


def lone_surrogate() -> Action:
    """The JSON holds the escape of half a surrogate pair."""
    return ok("Score: \ud83d 85", name="lone surrogate")


def nul_character() -> Action:
    return ok("8\x005", name="NUL")
