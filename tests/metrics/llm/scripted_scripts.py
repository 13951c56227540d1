"""Scripts: what a scripted server answers to which call, and a judge that always says the same of a text."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from scripted_actions import Action, ReceivedCall, ok

Script = Callable[[ReceivedCall], Action]

_HEADINGS = ("Critical", "Major", "Minor")
_CLASSES = (
    "accuracy/mistranslation",
    "accuracy/omission",
    "fluency/grammar",
    "style/awkward",
    "terminology/inconsistent use",
)


def always(action: Action) -> Script:
    return lambda call: action


def in_turn(answers: Sequence[Action | Script]) -> Script:
    """The first call gets the first answer, and so on; the last one serves all further calls."""
    taken = 0

    def script(call: ReceivedCall) -> Action:
        nonlocal taken
        chosen = answers[min(taken, len(answers) - 1)]
        taken += 1
        return _act(chosen, call)

    return script


def by_attempt(answers: Mapping[int, Action | Script]) -> Script:
    """By how often this body came before: ``{0: fault, 1: ok}``; an answer serves until the next is due."""

    def script(call: ReceivedCall) -> Action:
        return _act(answers[max(attempt for attempt in answers if attempt <= call.attempt)], call)

    return script


def random_faults(
    seed: int, rate: float, faults: Sequence[Action | Script], otherwise: Action | Script
) -> Script:
    """A share ``rate`` of all attempts fails, drawn by seed, body and attempt: the order is no matter."""

    def script(call: ReceivedCall) -> Action:
        drawn = random.Random(f"{seed} {call.key} {call.attempt}")
        return _act(drawn.choice(faults) if drawn.random() < rate else otherwise, call)

    return script


def _act(chosen: Action | Script, call: ReceivedCall) -> Action:
    return chosen if isinstance(chosen, Action) else chosen(call)


def judge(answers: Literal["mqm", "number", "esa"] = "mqm", last_line: str = "") -> Script:
    """A judge whose answer depends on the last user message alone.

    Its spans are words of the last block in triple backticks, or of the whole message. ``last_line`` ends
    every annotation (a label, say). A call with a JSON schema gets JSON that is valid for the schema.
    """

    def script(call: ReceivedCall) -> Action:
        drawn = random.Random(call.last_user.encode("utf-8", "surrogatepass"))
        schema = schema_of(call.body)
        if schema is not None:
            return ok(json.dumps(from_schema(schema, drawn), ensure_ascii=False))
        if answers == "number":
            return ok(str(drawn.randint(0, 100)))
        text = _annotation(call.last_user, drawn)
        if answers == "esa":
            text += f"\nScore: {drawn.randint(0, 100)}"
        return ok(f"{text}\n{last_line}" if last_line else text)

    return script


def _annotation(message: str, drawn: random.Random) -> str:
    fenced = re.findall(r"```(.*?)```", message, re.DOTALL)
    words = [word for word in (fenced[-1] if fenced else message).split() if '"' not in word] or ["leer"]
    lines = []
    for heading in _HEADINGS:
        count = drawn.choice((0, 0, 0, 1, 2) if heading == "Minor" else (0, 0, 0, 1))
        errors = [f'{drawn.choice(_CLASSES)} - "{drawn.choice(words)}"' for _ in range(count)]
        lines += [f"{heading}:", *(errors or ["no-error"])]
    return "\n".join(lines)


def schema_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The JSON schema that a request asks for, if it does."""
    asked = body.get("response_format") or {}
    return asked["json_schema"]["schema"] if asked.get("type") == "json_schema" else None


def from_schema(
    schema: Mapping[str, Any], drawn: random.Random, root: Mapping[str, Any] | None = None
) -> Any:
    """A value that is valid for a JSON schema. ``ValueError`` for a keyword that is not understood."""
    root = schema if root is None else root
    if "$ref" in schema:
        return from_schema(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], drawn, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return drawn.choice(schema["enum"])
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return from_schema(drawn.choice(schema[either]), drawn, root)
    kinds = schema.get("type", "object" if "properties" in schema else None)
    kind = drawn.choice(kinds) if isinstance(kinds, list) else kinds
    if kind == "object":
        return {name: from_schema(each, drawn, root) for name, each in schema.get("properties", {}).items()}
    if kind == "array":
        least = schema.get("minItems", 0)
        count = drawn.randint(least, schema.get("maxItems", least + 2))
        return [from_schema(schema["items"], drawn, root) for _ in range(count)]
    if kind == "string":
        if "pattern" in schema:
            raise ValueError("strings by pattern are not understood")
        text = f"words {drawn.randint(0, 999)}".ljust(schema.get("minLength", 0), ".")
        return text[: schema.get("maxLength", len(text))]
    if kind == "integer":
        return drawn.randint(schema.get("minimum", 0), schema.get("maximum", 100))
    if kind == "number":
        low, high = schema.get("minimum", 0), schema.get("maximum", 100)
        # Quarters of the range are exact, so that rounding cannot leave it.
        return low + (high - low) * drawn.randint(0, 4) / 4
    if kind == "boolean":
        return drawn.random() < 0.5
    if kind == "null":
        return None
    raise ValueError(f"a schema of type {kind!r} is not understood")
