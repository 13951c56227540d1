"""What is known of a batch: how it was made, where it stands, what came in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self

from challenge_sets.files import dump_json
from metrics.llm.budget import Budget
from metrics.llm.calls import Usage
from metrics.llm.options import LlmOptions
from metrics.llm.prices import Bill, Price

BATCH_FOLDER = "batches"
"""Folder of the request files, beside the log of calls."""

BatchState = Literal["writing", "uploading", "creating", "open", "ended", "closed"]
"""``writing`` its file, ``uploading`` it, ``creating`` the batch at the endpoint: on the way there. ``open``:
the endpoint has it. ``ended``: over there, still to be collected. ``closed``: nothing is left to do."""

ON_THE_WAY: tuple[BatchState, ...] = ("writing", "uploading", "creating")
ENDED = ("completed", "expired", "cancelled", "failed")
"""What an endpoint calls the end of a batch."""

_KEPT = ("model", "base_url", "api_key_env", "dialect", "timeout", "attempts")


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What one batch may hold: requests, and bytes of its file."""

    requests: int = 50_000
    bytes: int = 200_000_000


@dataclass(frozen=True, slots=True)
class Terms:
    """Whom a batch was given to and at what price: all that it takes to collect it on another day.

    The key is not among it, only the name of its environment variable.
    """

    options: LlmOptions
    price: Price | None = None
    currency: str = ""

    @classmethod
    def of(cls, options: LlmOptions) -> Self:
        """The terms of a run; ``InputError`` where it has a limit of cost and no price."""
        budget = Budget(options)
        return cls(options, budget.price, budget.currency)

    def to_text(self) -> str:
        """As it stands in the log. Of further parameters the names alone are kept."""
        plain: dict[str, Any] = {name: getattr(self.options, name) for name in _KEPT}
        plain["extra"] = sorted(self.options.extra)
        price = None if self.price is None else asdict(self.price)
        return dump_json({"options": plain, "price": price, "currency": self.currency})

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Inverse of ``to_text``."""
        value = json.loads(text)
        extra = dict.fromkeys(value["options"].pop("extra"))
        price = None if value["price"] is None else Price(**value["price"])
        return cls(LlmOptions(**value["options"], extra=extra), price, value["currency"])

    def cost(self, usage: Usage) -> float | None:
        """What this usage costs in a batch; ``None`` where price or usage are not known."""
        return None if self.price is None else self.price.cost(usage, batch=True)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as the log knows it.

    ``name`` is ours and stands in the batch's metadata, ``remote`` is the endpoint's; ``status`` is the
    endpoint's last word, with its ``completed`` and ``failed`` requests. ``file``, ``output`` and ``errors``
    are ids of files there. ``since`` is when it was begun, in seconds since 1970. ``trouble`` says why the
    endpoint could not be asked about it just now.
    """

    number: int
    name: str
    terms: Terms
    state: BatchState
    run: str
    since: float
    at: float
    file: str = ""
    remote: str = ""
    status: str = ""
    output: str = ""
    errors: str = ""
    requests: int = 0
    completed: int = 0
    failed: int = 0
    note: str = ""
    trouble: str = ""

    def path(self, folder: Path) -> Path:
        """Its file of requests."""
        return folder / f"{self.name}.jsonl"

    @property
    def shown(self) -> str:
        """Where it stands, in one word."""
        if self.state in ("open", "ended"):
            return self.status
        if self.state != "closed":
            return self.state
        return "abandoned" if not self.status else "failed" if self.status == "failed" else "collected"

    def to_json(self) -> dict[str, Any]:
        """What a reader would want to know."""
        options = self.terms.options
        plain = {"name": self.name, "id": self.remote, "state": self.shown}
        names = ("status", "requests", "completed", "failed", "since", "note", "trouble")
        return (
            plain
            | {name: getattr(self, name) for name in names}
            | {"endpoint": options.endpoint, "model": options.model}
        )


COLUMNS = tuple(each.name for each in fields(Batch) if each.name not in ("trouble",))


@dataclass(frozen=True, slots=True)
class Collected:
    """What came in of one batch.

    ``answered`` calls have a complete answer; ``refused`` counts those that came back without one, by
    reason; the file named no line for ``missing``; ``free`` were never asked. All but the answered can be
    submitted again. Of the lines, ``unknown`` bear ids that are not of this batch, ``repeated`` came in
    before, and ``broken`` are none. ``trouble``: why nothing could be collected; it stays to be collected.
    """

    batch: Batch
    answered: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    free: int = 0
    unknown: int = 0
    repeated: int = 0
    broken: int = 0
    bill: Bill = field(default_factory=Bill)
    trouble: str = ""

    @property
    def unanswered(self) -> int:
        """Calls that have to be submitted again."""
        return sum(self.refused.values()) + self.missing + self.free

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        counts = ("answered", "missing", "free", "unknown", "repeated", "broken", "trouble")
        return (
            {"batch": self.batch.to_json(), "refused": dict(self.refused)}
            | {name: getattr(self, name) for name in counts}
            | {"bill": self.bill.to_json()}
        )
