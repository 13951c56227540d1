"""Scripts of the scripted server: which answer to which call, and the judge that always says the same."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
import scripted_faults as faults
from openai import AsyncOpenAI, OpenAI
from scripted_actions import ReceivedCall, body_key, ok
from scripted_scripts import always, by_attempt, from_schema, in_turn, judge, random_faults
from scripted_server import ScriptedServer

KEY = "sk-test-abcdefgh-wxyz"
ASKED: dict[str, Any] = {"model": "m-1", "messages": [{"role": "user", "content": "Rate ```eins zwei```."}]}


def ask(server: ScriptedServer, **fields: Any) -> Any:
    with OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
        return client.chat.completions.create(**(ASKED | fields))


def test_scripts() -> None:
    def call(text: str, attempt: int = 0, **fields: object) -> ReceivedCall:
        body = {"messages": [{"role": "user", "content": text}], **fields}
        return ReceivedCall(body, {}, body_key(body), attempt, 0)

    fault, good = faults.reset(), ok("85")
    turns = in_turn([fault, always(good)])
    assert [turns(call("a")) for _ in range(3)] == [fault, good, good]
    attempts = by_attempt({0: fault, 2: good})
    assert [attempts(call("a", number)) for number in range(4)] == [fault, fault, good, good]

    drawn = {
        (text, attempt): random_faults(3, 0.3, [fault], good)(call(str(text), attempt)).name
        for text in range(100)
        for attempt in range(8)
    }
    again = random_faults(3, 0.3, [fault], good)
    assert all(
        again(call(str(text), attempt)).name == name for (text, attempt), name in reversed(drawn.items())
    )
    assert 180 < list(drawn.values()).count("reset") < 300
    assert all(any(drawn[text, attempt] == "ok" for attempt in range(8)) for text in range(100))


def test_the_judge_answers_by_the_last_user_message() -> None:
    def said(script: Any, **fields: Any) -> str:
        with ScriptedServer(script) as server:
            return ask(server, **fields).choices[0].message.content

    first = said(judge(last_line="label: yes"))
    assert first == said(judge(last_line="label: yes"), model="m-2", temperature=0)
    lines = first.split("\n")
    assert [line for line in lines if line.endswith(":")] == ["Critical:", "Major:", "Minor:"]
    assert lines[-1] == "label: yes"
    others = {
        said(judge(), messages=[{"role": "user", "content": f"```t{number}```"}]) for number in range(12)
    }
    assert len(others) > 5
    assert 0 <= int(said(judge("number"))) <= 100
    assert "\nScore: " in said(judge("esa"))


SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 3, "maximum": 5},
        "share": {"type": "number", "minimum": -1, "maximum": 1},
        "sure": {"type": "boolean"},
        "nothing": {"type": "null"},
        "kind": {"const": "mqm"},
        "label": {"type": "string", "enum": ["a", "b"]},
        "span": {"type": ["string", "null"]},
        "other": {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "null"}]},
        "errors": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/$defs/error"}},
    },
    "$defs": {"error": {"type": "object", "properties": {"class": {"type": "string", "minLength": 12}}}},
}


def test_json_by_schema() -> None:
    asked = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True}}
    with ScriptedServer() as server:
        for number in range(20):
            text = f"Rate {number}."
            answer = ask(server, response_format=asked, messages=[{"role": "user", "content": text}])
            got = json.loads(answer.choices[0].message.content)
            assert set(got) == set(SCHEMA["properties"])
            assert got["score"] in (3, 4, 5) and -1 <= got["share"] <= 1 and isinstance(got["sure"], bool)
            assert got["nothing"] is None and got["kind"] == "mqm" and got["label"] in ("a", "b")
            assert isinstance(got["span"], str | None)
            assert got["other"] is None or len(got["other"]) <= 2
            assert len(got["errors"]) in (1, 2)
            assert all(len(each["class"]) >= 12 for each in got["errors"])
    with pytest.raises(ValueError, match="not understood"):
        from_schema({"type": "string", "pattern": "a+"}, None)  # type: ignore[arg-type]


def test_every_call_ends_well_after_some_attempts() -> None:
    script = random_faults(11, 0.4, faults.passing_faults(), judge("number"))

    async def ask_until_answered(server: ScriptedServer) -> None:
        async with AsyncOpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
            places = asyncio.Semaphore(8)

            async def one(number: int) -> None:
                messages: Any = [{"role": "user", "content": f"```{number}```"}]
                async with places:
                    for _ in range(20):
                        try:
                            got: Any = await client.chat.completions.create(model="m", messages=messages)
                            if got.choices[0].message.content is not None:
                                return
                        except (openai.APIError, ValueError, TypeError, AttributeError, IndexError):
                            pass
                raise AssertionError(f"call {number} never ends well")

            await asyncio.gather(*(one(number) for number in range(100)))

    with ScriptedServer(script) as server:
        asyncio.run(ask_until_answered(server))
        counts = server.counts
    assert len(counts.received) == 100
    assert set(counts.answered.values()) == {1}
    assert counts.answered.keys() == counts.received.keys()
    assert counts.actions["ok"] == 100
    assert sum(counts.actions.values()) == counts.calls == len(server.calls) > 130
    assert (counts.in_flight, counts.abandoned) == (0, 0)
    assert counts.max_in_flight <= 8
