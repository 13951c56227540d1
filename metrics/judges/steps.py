"""A prompt set as it is used: its steps, the messages of each, and the digest that stands for all of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from challenge_sets import InputError, Unit
from challenge_sets.files import dump_json
from challenge_sets.languages import language_name, normalise_language
from metrics.judges.fences import assemble
from metrics.judges.forms import Form, Scoring
from metrics.judges.hazards import FENCE, hazards
from metrics.judges.templates import Inputs, Needs, Template, Text


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages for a model, and which kinds of hostile content stand in their texts (``hazards.HAZARDS``)."""

    messages: tuple[dict[str, str], ...]
    hazards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shot:
    """One example: what was asked, as a message or as inputs of the user template, and the answers.

    ``json`` is the answer where JSON is asked for, ``answer`` the one in text form.
    """

    asked: str | Inputs
    answer: str | None
    json: str | None = None


# Steps are told apart as objects, so that the messages of their examples can be kept.
@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One call: messages and the form of the answer to them.

    ``schema`` is the JSON schema of a structured answer, ``None`` where the step has only its text form;
    ``bare`` allows texts in no fence, for prompts that are not ours to change.
    """

    form: Form
    user: Template
    needs: Needs
    schema: Mapping[str, Any] | None = None
    system: Template | None = None
    shots: tuple[Shot, ...] = ()
    bare: bool = False

    def form_for(self, structured: bool) -> Form:
        """The form of the answer; ``InputError`` where a structured one is asked for and there is none."""
        if structured and self.schema is None:
            raise InputError("this prompt set has no schema for structured answers")
        return replace(self.form, json=True) if structured else self.form

    def messages(self, inputs: Inputs, structured: bool = False) -> Prompt:
        """The messages for these inputs, texts unchanged and fenced."""
        messages: list[dict[str, str]] = []
        if self.system is not None:
            system, _ = assemble(self.system.render(inputs, self.needs, structured))
            messages.append({"role": "system", "content": system})
        messages += _examples(self, structured)
        user, found = self.user_message(inputs, structured)
        messages.append({"role": "user", "content": user})
        return Prompt(tuple(messages), found)

    def user_message(self, inputs: Inputs, structured: bool) -> tuple[str, tuple[str, ...]]:
        """The last message, and the hazards in its texts."""
        pieces = self.user.render(inputs, self.needs, structured)
        content, adapted = assemble(pieces, bare=self.bare)
        # The judge's own answer to the step before looks like an answer, as it must.
        found = hazards(piece.text for piece in pieces if isinstance(piece, Text) and piece.name != "earlier")
        return content, tuple(sorted(found | {FENCE} if adapted else found))

    def shaping(self) -> dict[str, Any]:
        """Everything of the step that shapes what is asked and how the answer is read."""
        return {
            "form": asdict(self.form),
            "schema": self.schema,
            "system": None if self.system is None else [self.system.syntax, self.system.text],
            "user": [self.user.syntax, self.user.text],
            "shots": [asdict(shot) for shot in self.shots],
        }


@lru_cache(maxsize=64)
def _examples(step: Step, structured: bool) -> tuple[dict[str, str], ...]:
    """The messages of the examples, which are the same in every call."""
    as_json = step.form_for(structured).json
    messages: list[dict[str, str]] = []
    for shot in step.shots:
        asked = shot.asked if isinstance(shot.asked, str) else step.user_message(shot.asked, structured)[0]
        answer = shot.json if as_json else shot.answer
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": answer or ""}]
    return tuple(messages)


@dataclass(frozen=True, slots=True)
class PromptSet:
    """What a judge is asked and how its answers count.

    ``scoring`` adds up the errors of an ``mqm`` set (a penalty, lower is better) and is ``None`` for the
    others, whose score is the number of the last step. ``typical_tokens`` is the usual length of one answer,
    ``max_tokens`` the budget that it gets. ``languages`` are names that differ from the English ones.
    """

    name: str
    version: str
    description: str
    unit: Unit
    needs: Needs
    higher_is_better: bool
    steps: tuple[Step, ...]
    max_tokens: int
    typical_tokens: int
    scoring: Scoring | None = None
    citation: str = ""
    languages: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    digest: str = field(init=False)
    """Hex SHA-256 of everything that shapes messages and reading."""

    def __post_init__(self) -> None:
        shaping = {
            "unit": self.unit,
            "needs": sorted(self.needs),
            "higher_is_better": self.higher_is_better,
            "languages": dict(sorted(self.languages.items())),
            "scoring": None if self.scoring is None else self.scoring.parts(),
            "steps": [step.shaping() for step in self.steps],
        }
        digest = hashlib.sha256(dump_json(shaping).encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "digest", digest)

    @property
    def structured(self) -> bool:
        """Whether every step can be answered in JSON under a schema."""
        return all(step.schema is not None for step in self.steps)

    def language(self, tag: str) -> str:
        """The name that the prompts use for a language; ``InputError`` where there is none."""
        tag = normalise_language(tag)
        if tag in self.languages:
            return self.languages[tag]
        name = language_name(tag)
        if name.startswith("Unknown language") or tag in _NO_LANGUAGE:
            raise InputError(
                f"the prompt set '{self.name}' has no name for the language '{tag}'",
                hint=f'name it in the manifest of a prompt set: [languages] {tag} = "…"',
            )
        return name


_NO_LANGUAGE = ("mul", "zxx", "mis", "und")
