"""Failures of a scripted server: refusals by status, broken bodies and broken connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from scripted_actions import Action, Ending, ReceivedCall, empty_choices, null_content, ok

HTML = "text/html; charset=utf-8"


def error(
    status: int,
    message: str,
    *,
    code: str | int | None = None,
    kind: str = "invalid_request_error",
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
    name: str = "",
) -> Action:
    """A refusal with an error object."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    given = tuple((headers or {}).items())
    return Action(name or f"{status} {code or kind}", lambda call: body, status=status, headers=given)


def html(status: int, title: str, name: str = "") -> Action:
    """A page for people, such as a proxy or a wrong address gives."""
    page = f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
    return Action(name or f"{status} html", lambda call: page.encode(), status=status, content_type=HTML)


def rate_limited(
    after: float | None = 0.02, spelled: Literal["seconds", "milliseconds", "date"] = "seconds"
) -> Action:
    """429, to be asked again ``after`` so many seconds; a date has whole seconds. ``None``: does not say."""
    refused = error(
        429, "Rate limit reached for requests", code="rate_limit_exceeded", kind="requests", name="429"
    )
    if after is None:
        return refused
    if spelled == "date":
        return replace(refused, retry_date=after)
    header = (
        ("retry-after", f"{after:g}") if spelled == "seconds" else ("retry-after-ms", f"{after * 1000:g}")
    )
    return replace(refused, headers=(header,))


def over_long_wait() -> Action:
    """429 that asks for more patience than the openai client has."""
    return replace(rate_limited(1000), name="429 over-long")


def quota() -> Action:
    message = "You exceeded your current quota, please check your plan and billing details."
    return error(429, message, code="insufficient_quota", kind="insufficient_quota", name="quota")


def server_error() -> Action:
    return error(500, "The server had an error while processing your request.", kind="server_error")


def unavailable_page() -> Action:
    return html(503, "503 Service Temporarily Unavailable")


def request_timeout() -> Action:
    return error(408, "Request timed out.", kind="timeout")


def conflict() -> Action:
    return error(409, "The resource is locked, try again.", kind="conflict")


def unauthorized() -> Action:
    """401, with the beginning and the end of the key that was sent, as OpenAI does."""

    def answer(call: ReceivedCall) -> object:
        key = call.headers.get("authorization", "").removeprefix("Bearer ")
        shown = f"{key[:8]}{'*' * max(4, len(key) - 12)}{key[-4:]}"
        message = f"Incorrect API key provided: {shown}. You can find your API key in your account settings."
        kind, code = "invalid_request_error", "invalid_api_key"
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    return Action("401", answer, status=401)


def payment_required() -> Action:
    """402 as OpenRouter gives it: the code is a number."""
    body = {"error": {"message": "Insufficient credits. Add more and retry.", "code": 402}, "user_id": "u"}
    return Action("402", lambda call: body, status=402)


def forbidden() -> Action:
    return error(403, "Your project does not have access to this model.", code="model_not_available")


def model_unknown() -> Action:
    def answer(call: ReceivedCall) -> object:
        message = f"The model `{call.model}` does not exist or you do not have access to it."
        kind, code = "invalid_request_error", "model_not_found"
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    return Action("404 model", answer, status=404)


def not_an_api() -> Action:
    return html(404, "404 Not Found")


def context_length(limit: int = 8192) -> Action:
    message = f"This model's maximum context length is {limit} tokens. However, your messages are longer."
    return error(400, message, code="context_length_exceeded", param="messages")


def content_filter() -> Action:
    message = "The response was filtered due to the prompt triggering the content management policy."
    return error(400, message, code="content_filter", param="prompt")


def unsupported(parameter: str) -> Action:
    """400 that names a parameter which the model does not take: temperature, max_tokens, response_format."""
    hint = " Use 'max_completion_tokens' instead." if parameter == "max_tokens" else ""
    value = parameter == "temperature"
    message = (
        "Unsupported value: 'temperature' does not support 0 with this model."
        if value
        else f"Unsupported parameter: '{parameter}' is not supported with this model.{hint}"
    )
    code = "unsupported_value" if value else "unsupported_parameter"
    return error(400, message, code=code, param=parameter, name=f"400 unsupported {parameter}")


def bad_request() -> Action:
    return error(400, "We could not parse the request.")


def _broken(name: str, ending: Ending) -> Action:
    return replace(ok("85", name=name), ending=ending, usable=False)


def hang() -> Action:
    """No answer until the server closes."""
    return _broken("hang", "hang")


def reset() -> Action:
    """The connection is reset (RST) before a byte was sent."""
    return _broken("reset", "reset")


def close() -> Action:
    """The connection is closed in order, without an answer."""
    return _broken("close", "close")


def cut_body() -> Action:
    """The connection closes half-way through the body that the header promised."""
    return _broken("cut body", "cut")


def stalled_body() -> Action:
    """Half of the body, then silence until the server closes."""
    return _broken("stalled body", "stall")


def bad_json() -> Action:
    """200 with a body, complete by its header, that breaks off inside the JSON."""
    return Action("bad JSON", lambda call: b'{"id": "chatcmpl-1", "object": "chat.completion", "choices": [{')


def bad_utf8() -> Action:
    """200 with JSON that holds a byte which is no UTF-8."""
    return Action("bad UTF-8", lambda call: ok("85#").body_for(call).replace(b"85#", b"85\xff"))


def html_with_200() -> Action:
    return html(200, "Sign in to the network")


def error_in_200(code: int | str = 502, message: str = "Provider returned error") -> Action:
    """200 with an error object and nothing else; OpenRouter's codes are numbers."""
    body: dict[str, Any] = {"error": {"code": code, "message": message}}
    return Action("error in 200", lambda call: body)


def passing_faults() -> tuple[Action, ...]:
    """Faults of one call that another attempt may well get past, none of which waits for a timeout."""
    return (
        rate_limited(0.01),
        rate_limited(0.01, "milliseconds"),
        server_error(),
        unavailable_page(),
        request_timeout(),
        conflict(),
        reset(),
        close(),
        cut_body(),
        bad_json(),
        html_with_200(),
        error_in_200(),
        error_in_200("server_error"),
        empty_choices(),
        null_content(),
    )
