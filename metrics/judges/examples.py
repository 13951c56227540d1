"""The optional files of a prompt set: examples (``few_shot.json``) and the schema of structured answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from challenge_sets import InputError, Turn
from challenge_sets.files import dump_json, locating
from challenge_sets.json_fields import string
from metrics.judges.forms import Form
from metrics.judges.prompt_files import Folder
from metrics.judges.steps import Shot
from metrics.judges.templates import Inputs, Needs
from metrics.requests import Segment

FEW_SHOT, SCHEMA = "few_shot.json", "schema.json"

_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")


def read_shots(folder: Folder, form: Form, needs: Needs, *, with_json: bool) -> tuple[Shot, ...]:
    """The examples, none without the file.

    A list of messages, ``user`` and ``assistant`` in turn. A question has ``content``, or ``inputs`` that
    fill the user template; an answer has ``content``, and ``json`` where JSON answers are asked for.
    """
    if not folder.has(FEW_SHOT):
        return ()
    path = folder.path / FEW_SHOT
    messages = folder.json(FEW_SHOT)
    if not isinstance(messages, list) or len(messages) % 2:
        raise InputError("must be a list of messages, user and assistant in turn", path=path)
    for number, message in enumerate(messages, 1):
        role = ("assistant", "user")[number % 2]
        with locating(path, element=number):
            if not isinstance(message, dict) or message.get("role") != role:
                raise ValueError(f"must be a message with the role '{role}'")
            known = {"role", "content", "inputs" if role == "user" else "json"}
            if not message.keys() <= known:
                raise ValueError(f"has {', '.join(sorted(message.keys() - known))}, which it cannot have")
    shots = []
    for place in range(0, len(messages), 2):
        with locating(path, element=place + 1):
            asked = _asked(messages[place], needs)
        with locating(path, element=place + 2):
            shots.append(Shot(asked, *_answers(messages[place + 1], form, with_json)))
    return tuple(shots)


def _asked(message: Mapping[str, Any], needs: Needs) -> str | Inputs:
    if "inputs" not in message:
        return string(message, "content")
    if "content" in message:
        raise ValueError("has both 'content' and 'inputs'")
    value = message["inputs"]
    given = {
        "source": string(value, "source") if "source" in needs and "document" not in needs else "",
        "reference": string(value, "reference") if "reference" in needs and "document" not in needs else None,
    }
    context = value["context"] if "context" in needs else ()
    segments = value["segments"] if "document" in needs else ()
    return Inputs(
        string(value, "source_lang"),
        string(value, "target_lang"),
        given["source"] or "",
        "" if "document" in needs else string(value, "translation"),
        given["reference"],
        tuple(Turn.from_json(turn) for turn in context),
        tuple(
            Segment(
                string(segment, "translation"),
                string(segment, "source") if "source" in needs else "",
                string(segment, "reference") if "reference" in needs else None,
            )
            for segment in segments
        ),
    )


def _answers(message: Mapping[str, Any], form: Form, with_json: bool) -> tuple[str | None, str | None]:
    """The answer as text and as JSON, as far as each is asked for."""
    content = None if form.json and "json" in message else string(message, "content")
    if form.json and content is not None:
        return None, content
    if not with_json:
        return content, None
    if not isinstance(message.get("json"), dict):
        raise ValueError("has no 'json': the example must also show the answer that the schema asks for")
    return content, dump_json(message["json"])


def read_schema(folder: Folder) -> dict[str, Any] | None:
    """The JSON schema of structured answers, ``None`` without the file.

    ``InputError`` for a schema that endpoints refuse: unknown types, objects that allow other keys or leave
    some out.
    """
    if not folder.has(SCHEMA):
        return None
    path = folder.path / SCHEMA
    schema = folder.json(SCHEMA)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise InputError('must be a JSON schema with "type": "object"', path=path)
    _check_schema(schema, "", path)
    return schema


def _check_schema(schema: Any, place: str, path: Path) -> None:
    at = place or "the schema"
    if not isinstance(schema, dict):
        raise InputError(f"{at} must be an object", path=path)
    types = schema.get("type", [])
    for each in types if isinstance(types, list) else [types]:
        if each not in _TYPES:
            raise InputError(f"{at} has the type {each!r}; there are: {', '.join(_TYPES)}", path=path)
    if types == "object" or "properties" in schema:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            raise InputError(f"{at} is an object without properties", path=path)
        required = schema.get("required")
        if schema.get("additionalProperties") is not False or not isinstance(required, list):
            raise InputError(f'{at} needs "required" and "additionalProperties": false', path=path)
        if sorted(map(str, required)) != sorted(properties):
            raise InputError(f"{at} must require all of its properties, and no others", path=path)
        for name, inner in properties.items():
            _check_schema(inner, f"{place}.{name}" if place else name, path)
    if types == "array" and "items" not in schema:
        raise InputError(f"{at} is an array without items", path=path)
    if "items" in schema:
        _check_schema(schema["items"], f"{place}[]", path)
    for number, inner in enumerate(schema.get("anyOf", ())):
        _check_schema(inner, f"{at}, choice {number + 1}", path)
