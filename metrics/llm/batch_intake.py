"""The results of a batch on their way into the log, each joined by its id with the call that waits for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import IO, Any

from metrics.llm.batch_files import Result, results
from metrics.llm.batch_log import BatchLog
from metrics.llm.batch_records import Batch, Collected, Terms
from metrics.llm.calls import Reply, Usage
from metrics.llm.exchanges import read_exchange, redacted
from metrics.llm.prices import Bill

_AT_ONCE = 200
# Reasons that are told apart; endpoints put numbers into some.
_REASONS = 30


@dataclass(slots=True)
class Intake:
    """The results of one batch on their way into the log.

    The files are gone through twice: first for complete answers, so that of several lines with one id the
    first complete one counts, then for everything else.
    """

    batch: Batch
    log: BatchLog
    key: str
    answered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unknown: int = 0
    repeated: int = 0
    broken: int = 0
    bill: Bill = field(default_factory=Bill)

    def read(self, stream: IO[bytes], *, complete: bool) -> None:
        """Go through a file once, for one kind of outcome."""
        chunk: list[tuple[bytes, Reply]] = []
        for result in results(stream):
            if result is None or result.key is None:
                if complete:
                    self.broken += result is None
                    self.unknown += result is not None
                continue
            reply = read_result(result, self.batch.terms, self.key)
            if (reply.status == "ok") == complete:
                chunk.append((result.key, reply))
            if len(chunk) == _AT_ONCE:
                self._settle(chunk)
                chunk = []
        self._settle(chunk)

    def _settle(self, chunk: list[tuple[bytes, Reply]]) -> None:
        for (_, reply), settled in zip(chunk, self.log.settle(self.batch.number, chunk), strict=True):
            if settled == "unknown":
                self.unknown += 1
            elif settled == "repeated":
                self.repeated += 1
            else:
                self._count(reply)

    def _count(self, reply: Reply) -> None:
        if reply.status == "ok":
            self.answered += 1
        else:
            known = reply.reason in self.refused or len(self.refused) < _REASONS
            self.refused[reply.reason if known else "other reasons"] += 1
        usage = reply.usage
        self.bill += Bill(
            1,
            reply.attempts,
            usage.input or 0,
            usage.output or 0,
            usage.reasoning or 0,
            reply.cost or 0.0,
            int(reply.cost is None),
            self.batch.terms.currency,
        )

    def finish(self) -> Collected:
        """See to the calls of which nothing came, and close the batch."""
        batch, missing = self.batch, 0
        if batch.status != "failed":
            why = "" if batch.status == "completed" else f" ({batch.status})"
            cost = None if batch.terms.price is None else 0.0
            reason = f"the batch gave no line for it{why}"
            missing = self.log.settle_rest(batch.number, Reply("failed", reason=reason, cost=cost))
        free = self.log.close_batch(batch.number)
        return Collected(
            self.log.batch(batch.number),
            self.answered,
            dict(self.refused.most_common()),
            missing,
            free,
            self.unknown,
            self.repeated,
            self.broken,
            self.bill,
        )


def read_result(result: Result, terms: Terms, key: str) -> Reply:
    """What a line of results means for its call: the same as if it had been asked alone, once.

    What another attempt could mend is a failure here; the price is that of batches.
    """
    response, error = result.value.get("response"), result.value.get("error")
    status = response.get("status_code") if isinstance(response, dict) else None
    if not isinstance(response, dict) or not isinstance(status, int) or isinstance(status, bool):
        return _priced(Reply("failed", reason=_no_response(error, key)), Usage(), terms)
    outcome = read_exchange(status, {}, response.get("body"), terms.options, key)
    if outcome.reply is not None:
        return _priced(outcome.reply, outcome.reply.usage, terms)
    reason = outcome.reason if outcome.problem is None else outcome.problem.problem
    return _priced(Reply("failed", reason=reason), outcome.usage, terms)


def _no_response(error: Any, key: str) -> str:
    if isinstance(error, dict):
        code = f" ({error['code']})" if error.get("code") else ""
        return redacted(f"not asked: {error.get('message') or 'no message'}{code}", key)
    return "the line holds no response"


def _priced(reply: Reply, usage: Usage, terms: Terms) -> Reply:
    cost = terms.cost(usage)
    if cost is None and terms.price is not None and not reply.finish:
        # Where nobody spoke, nothing is paid; who spoke and did not count may be.
        cost = 0.0
    return replace(reply, usage=usage, cost=cost)
