"""Checks of a prompt set when it is read: every need has its place, every text its fence, before any call."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from challenge_sets import InputError, Turn
from metrics.judges.fences import FENCE_HINT, bare_texts
from metrics.judges.steps import Step
from metrics.judges.templates import Inputs, Needs, Piece, Template, Text
from metrics.requests import Segment

_TURNS = (Turn("other", "x", "1 hour ago"), Turn("self", "x"))


def check_step(step: Step, system: Path, user: Path) -> None:
    """Render a step as it will be rendered, with texts and without. ``InputError`` names file and line."""
    plain = [False] + ([True] if step.schema is not None else [])
    asked: list[object] = []
    for structured in plain:
        for inputs in _examples(step.needs):
            pieces = step.user.render(inputs, step.needs, structured)
            _check_places(step, pieces, inputs, user)
            bare = bare_texts(pieces)
            if bare and not step.bare:
                raise InputError(
                    f"'{bare[0]}' stands in no fence: its text could pass for words of the prompt",
                    path=user,
                    line=step.user.line_of(bare[0]),
                    hint=FENCE_HINT,
                )
        words = [pieces]
        if step.system is not None:
            words.append(step.system.render(inputs, step.needs, structured))
            _check_system(step.system, words[-1], system)
        asked.append(words)
    if len(asked) == 2 and asked[0] == asked[1] and not step.form.json:
        raise InputError(
            "there is a schema for JSON answers, and the prompt asks for the same answer with and without it",
            path=user,
            hint="say what JSON is asked for: {% if structured %} … {% else %} … {% endif %}",
        )


def _examples(needs: Needs) -> list[Inputs]:
    reference = "x" if "reference" in needs else None
    if "document" in needs:
        segment = Segment("x", "x", reference)
        return [Inputs("English", "German", segments=(segment,) * count) for count in (1, 3)]
    contexts = ((), _TURNS) if "context" in needs else ((),)
    return [Inputs("English", "German", "x", "x", reference, context, earlier="x") for context in contexts]


def _check_places(step: Step, pieces: list[Piece], inputs: Inputs, path: Path) -> None:
    places = Counter(piece.name for piece in pieces if isinstance(piece, Text))
    times = len(inputs.segments) if "document" in step.needs else 1
    wanted = {"translation": times} | {
        need: (min(1, len(inputs.context)) if need == "context" else times)
        for need in step.needs - {"document"}
    }
    for name, least in sorted(wanted.items()):
        if places[name] < least:
            each = " of every segment" if times > 1 else ""
            raise InputError(
                f"the template has no place for the {name}{each}"
                + ("" if name == "translation" else ", which the prompt set needs"),
                path=path,
            )


def _check_system(template: Template, pieces: list[Piece], path: Path) -> None:
    for piece in pieces:
        if isinstance(piece, Text):
            raise InputError(
                f"'{piece.name}' stands in the system message, texts belong into the user message",
                path=path,
                line=template.line_of(piece.name),
            )
