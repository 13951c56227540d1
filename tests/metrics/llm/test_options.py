"""Options of a model: bad values, addresses, keys, and how parameters are spelled."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import InputError
from metrics.llm.options import NO_KEY, LlmOptions, parse_parameter

LOCAL = "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"model": ""}, "no model named"),
        ({"model": " \t"}, "no model named"),
        ({"model": "m\n1"}, "no model named"),
        ({"model": "m\udcff"}, "no model named"),
        ({"base_url": "api.openai.com/v1"}, "the base URL 'api.openai.com/v1' is no address"),
        ({"base_url": "ftp://host/v1"}, "the base URL 'ftp://host/v1' is no address"),
        ({"base_url": "http://"}, "is no address"),
        ({"base_url": "http:///v1"}, "is no address"),
        ({"base_url": "http://host:99999/v1"}, "is no address"),
        ({"base_url": "http://host:0/v1"}, "is no address"),
        ({"base_url": "http://[::1/v1"}, "is no address"),
        ({"base_url": "http://my host/v1"}, "is no address"),
        ({"base_url": "http://host/v1\n"}, "is no address"),
        ({"base_url": ""}, "is no address"),
        ({"base_url": "https://me:secret@host/v1"}, "of host holds a user, a password, a query or a"),
        ({"base_url": "https://host/v1?key=secret"}, "of host holds a user, a password, a query or a"),
        ({"base_url": "https://host/v1#secret"}, "of host holds a user, a password, a query or a"),
        ({"base_url": "https://me:secret@/v1"}, "the base URL is no address"),
        ({"api_key_env": "sk-secret"}, "takes the name of an environment variable, not the key itself"),
        ({"api_key_env": ""}, "takes the name of an environment variable"),
        ({"dialect": "chatty"}, "dialect is 'chatty'"),
        ({"structured": "yes"}, "structured is 'yes'"),
        ({"max_tokens": 0}, "max-tokens is 0, it is at least 1"),
        ({"concurrency": 0}, "concurrency is 0, it is at least 1"),
        ({"attempts": -1}, "attempts is -1, it is at least 1"),
        ({"temperature": -0.1}, "temperature is -0.1, it lies between 0 and 2"),
        ({"temperature": 2.1}, "temperature is 2.1"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": math.inf}, "timeout is inf"),
        ({"max_cost": 0}, "max-cost is 0, it is an amount above 0"),
        ({"max_cost": math.nan}, "max-cost is nan"),
        ({"extra": {"temperature": 1}}, "the parameter 'temperature' cannot be given by --param"),
        ({"extra": {"max_completion_tokens": 1}}, "the parameter 'max_completion_tokens' cannot be given"),
        ({"extra": {"messages": []}}, "the parameter 'messages' cannot be given"),
        ({"extra": {"stream": True}}, "the parameter 'stream' cannot be given"),
        ({"extra": {"n": 2}}, "the parameter 'n' cannot be given"),
        ({"extra": {"seed": math.inf}}, "the parameters of --param are no JSON"),
        ({"extra": {"user": "\ud800"}}, "the parameters of --param are no JSON"),
        ({"extra": {"user": object()}}, "the parameters of --param are no JSON"),
    ],
)
def test_bad_values(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        LlmOptions(**({"model": "m-1"} | fields))
    assert problem in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "endpoint", "local"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1", False),
        ("HTTPS://API.OpenAI.com/v1/", "https://api.openai.com/v1", False),
        ("https://host/Some/Path//", "https://host/Some/Path", False),
        ("http://localhost:8000/v1", "http://localhost:8000/v1", True),
        ("http://127.8.9.1/v1", "http://127.8.9.1/v1", True),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", True),
        ("http://0.0.0.0:8000/v1", "http://0.0.0.0:8000/v1", True),
        ("http://vllm.localhost/v1", "http://vllm.localhost/v1", True),
        ("http://localhost.example.com/v1", "http://localhost.example.com/v1", False),
        ("http://192.168.1.7:8000/v1", "http://192.168.1.7:8000/v1", False),
    ],
)
def test_addresses(url: str, endpoint: str, local: bool) -> None:
    options = LlmOptions("m-1", base_url=url)
    assert (options.endpoint, options.local) == (endpoint, local)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-default")
    monkeypatch.setenv("MY_KEY", " sk-mine\n")
    assert LlmOptions("m-1").key() == "sk-default"
    assert LlmOptions("m-1", api_key_env="MY_KEY").key() == "sk-mine"
    # A server on this machine is sent no key of somebody else.
    assert LlmOptions("m-1", base_url=LOCAL).key() == NO_KEY
    assert LlmOptions("m-1", base_url=LOCAL, api_key_env="MY_KEY").key() == "sk-mine"
    assert "sk-" not in repr(LlmOptions("m-1", api_key_env="MY_KEY"))


@pytest.mark.parametrize(
    "value", [None, "", "   ", "two words", "sk-\u2014dash", "sk-\x07bell", "“sk-quoted”"]
)
def test_a_key_that_is_none(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(InputError, match="MY_KEY") as refused:
        LlmOptions("m-1", api_key_env="MY_KEY").key()
    assert not value or not value.strip() or value not in str(refused.value)


CHAT = {"temperature": 0.0, "max_tokens": 256}
THINKING = {"max_completion_tokens": 8192}


@pytest.mark.parametrize(
    ("model", "fields", "parameters"),
    [
        ("gpt-4.1-mini", {}, CHAT),
        ("gpt-4o", {}, CHAT),
        ("gpt-5-mini", {}, THINKING),
        ("gpt-5", {}, THINKING),
        ("openai/gpt-5.1", {}, THINKING),
        ("gpt-5-chat-latest", {}, CHAT),
        ("o3", {}, THINKING),
        ("openai/o4-mini-high", {}, THINKING),
        ("O1-preview", {}, THINKING),
        ("openai/gpt-oss-120b", {}, CHAT),
        ("qwen/qwen3-32b", {}, CHAT),
        ("llama-o1-tuned", {}, CHAT),
        ("gpt-5", {"dialect": "chat"}, CHAT),
        ("m-1", {"dialect": "reasoning"}, THINKING),
        ("gpt-5", {"max_tokens": 100}, {"max_completion_tokens": 100}),
        ("m-1", {"max_tokens": 100, "temperature": 1}, {"temperature": 1.0, "max_tokens": 100}),
        ("m-1", {"extra": {"seed": 7, "top_p": 0.9}}, CHAT | {"seed": 7, "top_p": 0.9}),
        ("gpt-5", {"extra": {"reasoning_effort": "low"}}, THINKING | {"reasoning_effort": "low"}),
    ],
)
def test_how_parameters_are_spelled(model: str, fields: dict[str, Any], parameters: dict[str, Any]) -> None:
    spelled = LlmOptions(model, **fields).parameters(256)
    assert spelled == parameters
    assert all(isinstance(spelled[name], float) for name in spelled if name == "temperature")


def test_a_long_answer_is_not_cut_by_the_default_budget() -> None:
    assert LlmOptions("gpt-5").parameters(20_000) == {"max_completion_tokens": 20_000}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("seed=7", 7),
        ("top_p=0.9", 0.9),
        ("reasoning_effort=low", "low"),
        ('reasoning_effort="low"', "low"),
        ("logit_bias={}", {}),
        ('provider={"order": ["a"]}', {"order": ["a"]}),
        ("stop=[1, null, true]", [1, None, True]),
        ("user=a=b", "a=b"),
        ("store=false", False),
        ("store=False", "False"),
        ("seed=1e3", 1000.0),
        ("user=me and you", "me and you"),
    ],
)
def test_parameters_of_the_command_line(text: str, value: object) -> None:
    name, got = parse_parameter(text)
    assert (name, got, type(got)) == (text.partition("=")[0], value, type(value))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("seed", "--param 'seed' is not NAME=VALUE"),
        ("=7", "is not NAME=VALUE"),
        ("two words=7", "is not NAME=VALUE"),
        ("--seed=7", "is not NAME=VALUE"),
        ("seed=", "the value of --param seed is no JSON"),
        ("seed= ", "the value of --param seed is no JSON"),
        ("provider={order: 1}", "the value of --param provider is no JSON"),
        (' provider={"order": 1}', "is not NAME=VALUE"),
        ('provider= {"order', "the value of --param provider is no JSON"),
        ('user="a', "the value of --param user is no JSON"),
        ("stop=" + "[" * 100_000, "the value of --param stop is no JSON"),
        ("user=\udcff", "the value of --param user is no JSON"),
        ("seed=NaN", "NaN is no JSON number"),
        ("seed=-Infinity", "-Infinity is no JSON number"),
        ("seed=1e999", "1e999 is no JSON number"),
        ("stop=[1, 1e999]", "1e999 is no JSON number"),
    ],
)
def test_parameters_that_are_none(text: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_parameter(text)
    assert problem in str(refused.value)


@given(st.text())
def test_whatever_is_given_as_a_parameter_is_one_or_is_refused(text: str) -> None:
    try:
        name, value = parse_parameter(text)
    except InputError:
        return
    assert text.startswith(f"{name}=")
    if name not in LlmOptions.__slots__:
        try:
            LlmOptions("m-1", extra={name: value})
        except InputError as error:
            assert "cannot be given by --param" in str(error)
