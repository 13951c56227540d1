"""A call to a model and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from metrics.keys import inputs_key

# More than any call has, and what the log can hold.
_MOST_TOKENS = 2**53

CallStatus = Literal["ok", "truncated", "unparsed", "failed"]
"""``ok``: a complete answer. ``truncated``: the texts are too long for the model. ``unparsed``: the answer
was cut off. ``failed``: there is none."""


WAITING = "the call waits in a batch; fetch it with python -m metrics batch collect"
"""The reason of a reply to a call that is not asked because a batch holds it."""


@dataclass(frozen=True)
class Call:
    """One question: everything that shapes the answer, and who asks it about what.

    ``prompts`` is the digest of the prompt set and ``sample`` tells repetitions of one question apart.
    ``purpose`` (a signature) and ``subject`` (the text that is judged) do not shape the answer; they say in
    the log what it was for.
    """

    endpoint: str
    model: str
    messages: tuple[Mapping[str, str], ...]
    parameters: Mapping[str, Any]
    schema: Mapping[str, Any] | None = None
    prompts: str = ""
    sample: int = 1
    purpose: str = ""
    subject: str = ""

    @cached_property
    def key(self) -> bytes:
        """Sixteen bytes that stand for everything that shapes the answer."""
        return inputs_key(
            [
                self.endpoint,
                self.model,
                list(self.messages),
                self.parameters,
                self.schema,
                self.prompts,
                self.sample,
            ]
        )

    def body(self) -> dict[str, Any]:
        """The body of the request."""
        body = {"model": self.model, "messages": list(self.messages), **self.parameters}
        if self.schema is not None:
            answer = {"name": "answer", "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": answer}
        return body

    @property
    def budget(self) -> int:
        """Most tokens of an answer."""
        return int(self.parameters.get("max_completion_tokens") or self.parameters.get("max_tokens") or 0)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that an endpoint says it counted; ``None`` where it did not say."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    """Tokens of ``output`` that were thought and not said."""
    cached: int | None = None
    """Tokens of ``input`` that were read from the endpoint's cache."""

    @classmethod
    def of(cls, value: Any) -> Usage:
        """The ``usage`` of a response, where it is one."""

        def count(name: str, within: str = "") -> int | None:
            place = value.get(within) if within else value
            found = place.get(name) if isinstance(place, dict) else None
            sound = isinstance(found, int) and not isinstance(found, bool) and 0 <= found < _MOST_TOKENS
            return found if sound else None

        if not isinstance(value, dict):
            return cls()
        given, spoken, total = count("prompt_tokens"), count("completion_tokens"), count("total_tokens")
        thought = count("reasoning_tokens", "completion_tokens_details")
        if spoken is not None:
            # Some endpoints count thinking apart from what was said; it is paid for, too.
            spoken += (thought or 0) if (thought or 0) > spoken else 0
            spoken = max(spoken, (total or 0) - (given or 0))
        return cls(given, spoken, thought, count("cached_tokens", "prompt_tokens_details"))

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input, other.input),
            _sum(self.output, other.output),
            _sum(self.reasoning, other.reasoning),
            _sum(self.cached, other.cached),
        )

    @property
    def known(self) -> bool:
        """Whether both counts that are paid for are known."""
        return self.input is not None and self.output is not None


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a call. Only ``status`` ``ok`` is a complete answer, and final.

    ``text`` is what the model said, also where it was cut off or refused. ``usage`` and ``cost`` sum all
    attempts; ``cost`` is ``None`` where the price or the usage is not known. ``latency`` is that of the last
    attempt, in seconds. ``model`` is the one that answered, as the endpoint calls it. ``stored`` says that
    the answer had been paid for before.
    """

    status: CallStatus
    text: str = ""
    reason: str = ""
    finish: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    latency: float = 0.0
    attempts: int = 1
    stored: bool = False
