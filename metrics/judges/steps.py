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

    def asking(self) -> dict[str, Any]:
        """What of the step shapes its messages and the schema of its answer."""
        return {
            "system": None if self.system is None else [self.system.syntax, self.system.text],
            "user": [self.user.syntax, self.user.text],
            "bare": self.bare,
            "shots": [asdict(shot) for shot in self.shots],
            # In the order of its file: it is sent so, and a model fills it in so.
            "schema": self.schema,
        }

    def reading(self) -> dict[str, Any]:
        """What of the step shapes how its answer is read."""
        return asdict(self.form) | {"labels": dict(sorted(self.form.labels.items()))}


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
    # In the key of a call it stands beside the messages and the schema, which hold all that it stands for but
    # the order of the schema's keys. It may part calls that could share an answer, it never joins two that
    # could not: needs and names of languages, which it leaves out, show in the messages.
    asking: str = field(init=False)
    """Hex SHA-256 of what shapes questions: templates, examples, schemas. Answers are kept under it."""
    digest: str = field(init=False)
    """Hex SHA-256 of everything that shapes a score: the questions, how answers are read, how they count."""

    def __post_init__(self) -> None:
        asking = _sha256([step.asking() for step in self.steps])
        shaping = {
            "asking": asking,
            "unit": self.unit,
            "needs": sorted(self.needs),
            "languages": dict(sorted(self.languages.items())),
            "reading": [step.reading() for step in self.steps],
            "scoring": None if self.scoring is None else self.scoring.parts(),
            # Once more, one by one: a name may hold the comma that stands between them above.
            "critical_classes": [] if self.scoring is None else sorted(self.scoring.critical_classes),
            "higher_is_better": self.higher_is_better,
        }
        object.__setattr__(self, "asking", asking)
        object.__setattr__(self, "digest", _sha256(shaping))

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


def _sha256(value: Any) -> str:
    return hashlib.sha256(dump_json(value).encode("utf-8", "surrogatepass")).hexdigest()


_NO_LANGUAGE = ("mul", "zxx", "mis", "und")
