"""What an endpoint's response means: an answer, a reason to ask again, or a reason to stop.

Nothing here sends anything: the same reading serves calls one by one and the lines of a batch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from challenge_sets import InputError
from challenge_sets.console import printable
from metrics.llm.calls import Reply, Usage
from metrics.llm.options import LlmOptions
from metrics.llm.waits import asked

LONGEST_WAIT = 120.0
"""Seconds that an endpoint may ask to wait; whoever asks for more gets no further attempt in this run."""

_RETRIED = frozenset({408, 409, 425, 429})
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum context|(prompt|input|request)[^.]{0,40} too (long|large)", re.I
)
_FILTERED = re.compile(r"content.?(filter|policy|management)|moderation|flagged|safety", re.I)
_UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown (parameter|field|argument|name)|not permitted"
    r"|extra input",
    re.I,
)
_BUDGETS = ("max_completion_tokens", "max_tokens")
_HINTS = {
    "temperature": "a model that thinks takes none: --dialect reasoning",
    "max_tokens": "a model that thinks takes max_completion_tokens: --dialect reasoning",
    "max_completion_tokens": "--dialect chat",
    "response_format": "the endpoint does not bind answers to a schema: --structured off",
    "json_schema": "the endpoint does not bind answers to a schema: --structured off",
}
_KEY_LIKE = re.compile(r"\b(sk|pk|rk|hf|gsk|xai)[-_](?=\S{0,80}[\d*])[A-Za-z0-9_*.-]{8,}|Bearer\s+\S+", re.I)
# The ends of a key around a row of asterisks, as endpoints show one that they refuse.
_MASKED = re.compile(r"[\w.+/=-]{0,80}\*{4,}[\w*.+/=-]*")
_SHORTEST_PART = 6
# Endings of an answer that broke off on the endpoint's side, as some of them spell it.
_BROKEN_OFF = ("error", "insufficient_system_resource")
_CALLS_OF_TOOLS = ("tool_calls", "function_call")
_LONGEST_REASON = 300


class UnsupportedParameterError(InputError):
    """The model does not take a parameter; ``parameter`` is its name."""

    def __init__(self, problem: str, parameter: str, hint: str) -> None:
        self.parameter = parameter
        super().__init__(problem, hint=hint)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One of: a ``reply``, a ``problem`` to stop for, or else a ``reason`` to ask again.

    ``wait`` is how many seconds the endpoint asks to wait before that. ``alien``: the response is none of
    this protocol, such as a page for people. ``eaten``: thinking used up the whole budget. ``unwell``: the
    reply failed for the endpoint's sake, not for that of its own texts. ``answered``: the model was at work,
    whatever came of it. ``lost``: nobody can tell whether it was. Both are paid for, as a rule.
    """

    reply: Reply | None = None
    problem: InputError | None = None
    reason: str = ""
    wait: float | None = None
    usage: Usage = field(default_factory=Usage)
    alien: bool = False
    eaten: bool = False
    unwell: bool = False
    answered: bool = False
    lost: bool = False


def redacted(text: str, key: str = "") -> str:
    """A message of an endpoint in one line, bounded, without the key and without what looks like one."""
    text = text[: 10 * _LONGEST_REASON]
    # Endpoints repeat a part of a key that they refuse, as a rule its ends.
    parts = {key[at : at + _SHORTEST_PART] for at in range(len(key) - _SHORTEST_PART + 1)}
    if any(part in text for part in parts):
        for size in range(len(key), _SHORTEST_PART - 1, -1):
            for at in range(len(key) - size + 1):
                text = text.replace(key[at : at + size], "[key]")
    text = _MASKED.sub("[key]", text)
    text = printable(" ".join(_clean(without_keys(text)).split()))
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


def _without(text: str, key: str) -> str:
    return text.replace(key, "[key]") if len(key) >= _SHORTEST_PART else text


def without_keys(text: str) -> str:
    """A text in which nothing looks like a key."""
    return _KEY_LIKE.sub("[key]", text)


def _clean(text: str) -> str:
    # JSON can spell halves of characters, which no file can hold.
    return text.encode("utf-8", "replace").decode("utf-8")


def read_exchange(
    status: int, headers: Mapping[str, str], body: str | Any, options: LlmOptions, key: str
) -> Outcome:
    """Read one response. ``headers`` in lower case; ``body`` is its text, or JSON that is read already."""
    value = _json(body) if isinstance(body, str) else body
    if 200 <= status < 300:
        if not isinstance(value, dict):
            begins = redacted(str(body)[:80], key)
            page = isinstance(body, str) and body.lstrip()[:1] == "<"
            reason = f"the response is no JSON object; it begins '{begins}'"
            return Outcome(reason=reason, alien=page, lost=not page)
        error = value.get("error")
        if not error:
            return _answer(value, key)
        status = _status_within(error)
    error = _Error.of(value, body, key)
    return _refusal(status, headers, error, options)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _status_within(error: Any) -> int:
    """The status that an error in a response of status 200 stands for; 500 where it does not say."""
    code = (error.get("code") or error.get("type")) if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return code
    known = {"insufficient_quota": 429, "rate_limit_exceeded": 429, "invalid_api_key": 401}
    known |= {"model_not_found": 404, "context_length_exceeded": 400, "content_filter": 400}
    return known.get(str(code), 500)


@dataclass(frozen=True, slots=True)
class _Error:
    message: str
    codes: tuple[str, ...]
    parameter: str
    json: bool

    @classmethod
    def of(cls, value: Any, body: Any, key: str) -> _Error:
        """What the usual shapes of errors say."""
        found = value.get("error", value) if isinstance(value, dict) else value
        if isinstance(found, dict):
            message = found.get("message") or found.get("detail") or found.get("error") or found
            codes = tuple(str(found.get(name)) for name in ("code", "type") if found.get(name))
            metadata = found.get("metadata")
            if metadata:
                message = f"{message} {json.dumps(metadata)}"
            return cls(redacted(str(message), key), codes, str(found.get("param") or ""), True)
        text = found if isinstance(found, str) else str(body)
        if text.lstrip()[:1] == "<":
            title = re.search(r"<title[^>]*>([^<]{1,100})", text, re.I)
            text = f"a page for people: {title[1]}" if title else "a page for people"
        return cls(redacted(text, key) or "no message", (), "", value is not None)


def _refusal(status: int, headers: Mapping[str, str], error: _Error, options: LlmOptions) -> Outcome:
    said = f"{error.message} (status {status})"
    problem = _stopping(status, error, options)
    if problem is not None:
        return Outcome(problem=problem)
    if status in _RETRIED or status >= 500:
        wait = asked(headers)
        if wait is not None and wait > LONGEST_WAIT:
            reason = f"the endpoint asks to wait {wait:.0f} seconds: {said}"
            return Outcome(reply=Reply("failed", reason=reason), unwell=True)
        return Outcome(reason=said, wait=wait)
    long = "context_length_exceeded" in error.codes or _too_long(error)
    if status == 413 or (status in (400, 422) and long):
        return Outcome(reply=Reply("truncated", reason=f"too long for the model: {said}"))
    filtered = _FILTERED.search(f"{error.message} {' '.join(error.codes)}") is not None
    return Outcome(reply=Reply("failed", reason=f"refused: {said}"), unwell=not filtered)


def _too_long(error: _Error) -> bool:
    return _TOO_LONG.search(error.message) is not None


def _stopping(status: int, error: _Error, options: LlmOptions) -> InputError | None:
    """The error that ends the run, where every further call would meet it, too."""
    where = options.endpoint
    if 300 <= status < 400:
        return InputError(
            f"{where} sends calls on to another address ({status})",
            hint="if you trust that address, give it as the base URL",
        )
    if status == 401:
        return InputError(
            f"{where} refuses the key (401): {error.message}",
            hint="no key was sent: name its environment variable with --api-key-env"
            if options.local and options.api_key_env is None
            else f"the key is read from the environment variable {options.key_name}",
        )
    if status == 402 or (status in (403, 429) and any(code in _QUOTA for code in error.codes)):
        return InputError(
            f"{where} has no credit left for this key ({status}): {error.message}",
            hint="what was answered is kept: add credit and run again",
        )
    if status == 403 and not _FILTERED.search(error.message):
        return InputError(
            f"{where} forbids this (403): {error.message}",
            hint=f"may the key in {options.key_name} use the model '{options.model}'?",
        )
    if status == 404 and re.search(r"handle the requested parameters", error.message, re.I):
        # A router of several providers, none of which binds answers to a schema.
        return UnsupportedParameterError(
            f"no provider of '{options.model}' takes all parameters: {error.message}",
            "response_format",
            _HINTS["response_format"],
        )
    if status in (404, 405):
        if error.json and re.search(r"model", f"{error.message} {' '.join(error.codes)}", re.I):
            return InputError(
                f"{where} does not know the model '{options.model}' ({status}): {error.message}",
                hint=f"{where}/models lists the names, as a rule",
            )
        return InputError(
            f"nothing at {where}/chat/completions ({status}): {error.message}",
            hint="is the base URL that of an OpenAI-compatible API? It mostly ends in /v1",
        )
    if status in (400, 422):
        return _unsupported(error, options)
    return None


def _unsupported(error: _Error, options: LlmOptions) -> InputError | None:
    sent = (*_HINTS, *options.extra)
    # The first one that is named is at fault; another may follow as what to take instead.
    places = {name: re.search(rf"\b{re.escape(name)}\b", error.message) for name in sent}
    quoted = sorted(
        (name for name, place in places.items() if place or name == error.parameter),
        key=lambda name: -1 if name == error.parameter else places[name].start(),  # type: ignore[union-attr]
    )
    codes = {"unsupported_parameter", "unsupported_value", "unknown_parameter"} & set(error.codes)
    if quoted and (codes or _UNSUPPORTED.search(error.message)):
        name = quoted[0]
        return UnsupportedParameterError(
            f"the model '{options.model}' does not take the parameter '{name}': {error.message}",
            name,
            _HINTS.get(name, f"leave out --param {name}"),
        )
    if quoted and quoted[0] in _BUDGETS and not _too_long(error):
        return InputError(
            f"the model '{options.model}' refuses the answer budget: {error.message}",
            hint="give another one with --max-tokens",
        )
    return None


def _answer(value: Mapping[str, Any], key: str) -> Outcome:
    return replace(_read_answer(value, key), answered=True)


def _read_answer(value: Mapping[str, Any], key: str) -> Outcome:
    usage = Usage.of(value.get("usage"))
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        return Outcome(reason="the response holds no answer", usage=usage)
    finish = _clean(str(first.get("finish_reason") or ""))[:40]
    # An endpoint may repeat what it was sent, and the key must not get into a file.
    text = _without(_text(message.get("content")), key)
    # A name, not a message: what looks like a key may well be part of it.
    model = _without(_clean(str(value.get("model") or "")), key)[:_LONGEST_REASON]

    def reply(status: Any, reason: str = "", said: str = text) -> Reply:
        return Reply(status, said, reason, finish, model, usage)

    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        said = _without(_clean(refusal), key)
        return Outcome(reply=reply("failed", "the model refused", said), usage=usage)
    if finish in ("length", "model_length"):
        if not text.strip():
            reason = "the whole answer budget went into thinking; give a larger one with --max-tokens"
            return Outcome(reply=reply("unparsed", reason), usage=usage, eaten=True)
        return Outcome(reply=reply("unparsed", "cut off at the end of the answer budget"), usage=usage)
    if finish == "content_filter":
        return Outcome(reply=reply("failed", "withheld by the endpoint's content filter"), usage=usage)
    if finish in _BROKEN_OFF:
        error = first.get("error")
        why = f": {_Error.of(first, error, key).message}" if error else ""
        return Outcome(reason=f"the answer broke off{why}", usage=usage)
    if finish != "stop":
        named = f"'{finish}'" if finish else "missing"
        reason = f"no complete answer: finish_reason is {named}, only 'stop' ends one"
        # An endpoint that spells the end of all answers so would be paid for nothing, again and again.
        return Outcome(reply=reply("failed", reason), usage=usage, unwell=finish not in _CALLS_OF_TOOLS)
    if not text.strip():
        return Outcome(reason="the answer is empty", usage=usage)
    return Outcome(reply=reply("ok"), usage=usage)


def _text(content: Any) -> str:
    """The text of a message, which some endpoints give in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return _clean(content) if isinstance(content, str) else ""
