"""Prompt sets in the layout of the Korean multi-turn context benchmark, read unchanged.

``manifest.json`` names the set and its MQM classes, ``few-shot-messages.json`` holds messages in Gemini's
form, ``user-template.md`` has ``${…}`` placeholders, ``system.md`` names the values of the last line. The
response schema there belongs to an older form: answers are text.
"""

from __future__ import annotations

import re
from typing import Any

from challenge_sets import InputError
from challenge_sets.files import locating
from challenge_sets.json_fields import string
from metrics.judges.checks import check_step
from metrics.judges.forms import Form, Scoring
from metrics.judges.prompt_files import Folder
from metrics.judges.steps import PromptSet, Shot, Step
from metrics.judges.templates import Needs, dollar_template

MANIFEST, SYSTEM, USER, FEW_SHOT = "manifest.json", "system.md", "user-template.md", "few-shot-messages.json"

LABEL = "contextBehavior"
_LANGUAGES = {"en": "English", "ja": "Japanese", "zh-Hans": "Chinese Simplified"}


def is_benchmark_layout(folder: Folder) -> bool:
    """Whether a directory is laid out so."""
    return folder.has(MANIFEST) and folder.has(USER)


def read_benchmark_layout(folder: Folder) -> PromptSet:
    """Read the benchmark's judge: text answers, no cap, no de-duplication. ``InputError`` names the file."""
    path = folder.path / MANIFEST
    manifest = folder.json(MANIFEST)
    with locating(path):
        name = string(manifest, "name")
        classes = tuple(map(str, manifest["mqmClasses"]))
    needs: Needs = frozenset(("source", "context"))
    # The benchmark cuts white space around both files.
    system = dollar_template(folder.text(SYSTEM).strip(), folder.path / SYSTEM, needs)
    user = dollar_template(folder.text(USER).strip(), folder.path / USER, needs)
    form = Form("mqm", classes=classes, labels={LABEL: _label_values(folder)})
    step = Step(form, user, needs, system=system, shots=_shots(folder))
    check_step(step, folder.path / SYSTEM, folder.path / USER)
    return PromptSet(
        name=name,
        version="1",
        description="the judge of the Korean multi-turn context benchmark: MQM errors and use of context",
        citation="Korean Multi-turn Context Translation Benchmark, after Kocmi and Federmann 2023",
        unit="segment",
        needs=needs,
        higher_is_better=False,
        steps=(step,),
        scoring=Scoring(),
        max_tokens=2048,
        typical_tokens=60,
        languages=_LANGUAGES,
        origin="prompts of the benchmark, read from its directory",
    )


def _label_values(folder: Folder) -> tuple[str, ...]:
    found = re.search(rf"{LABEL}:[ \t]*(\w+(?:[ \t]*\|[ \t]*\w+)+)", folder.text(SYSTEM))
    if found is None:
        raise InputError(
            f"does not say which values '{LABEL}' takes",
            path=folder.path / SYSTEM,
            hint=f"the benchmark's says: {LABEL}: used_correctly | …",
        )
    return tuple(value.strip() for value in found[1].split("|"))


def _shots(folder: Folder) -> tuple[Shot, ...]:
    path = folder.path / FEW_SHOT
    messages = folder.json(FEW_SHOT)
    if not isinstance(messages, list) or len(messages) % 2:
        raise InputError("must be a list of messages, user and model in turn", path=path)
    contents = []
    for number, message in enumerate(messages, 1):
        with locating(path, element=number):
            contents.append(_content(message, ("model", "user")[number % 2]))
    return tuple(Shot(asked, answer) for asked, answer in zip(contents[::2], contents[1::2], strict=True))


def _content(message: Any, role: str) -> str:
    if message["role"] != role:
        raise ValueError(f"must be a message with the role '{role}'")
    return "".join(string(part, "text") for part in message["parts"])
