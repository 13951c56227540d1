"""What one outcome after the other says about an endpoint: whether it is of use to go on asking."""

from __future__ import annotations

from challenge_sets import InputError
from metrics.llm.calls import Call
from metrics.llm.exchanges import Outcome
from metrics.llm.log import CallLog
from metrics.llm.options import LlmOptions

# So many answers in a row whose budget went into thinking: it is too small for all of them.
_EATEN = 3
# Without any answer of this protocol so far, so many strange responses mean that there is no such endpoint.
_STRANGE = 3


class Health:
    """One endpoint in one run. ``proven`` says that it has given a usable response."""

    def __init__(self, options: LlmOptions, log: CallLog) -> None:
        self._options = options
        self._log = log
        self.proven = False
        self._strange = 0
        self._eaten = 0
        self._unwell = 0

    def problem(self, outcome: Outcome, call: Call, *, last: bool) -> InputError | None:
        """Learn from an outcome; the error that ends the run, where every further call would fail, too.

        ``last``: the call is not tried again, whatever came of it.
        """
        if outcome.problem is not None:
            return outcome.problem
        if outcome.reply is not None and not outcome.eaten and not outcome.unwell:
            self.proven = True
            self._unwell = 0
            return None
        strange = outcome.alien and not self.proven
        eaten = outcome.eaten and not self.proven
        unwell = outcome.unwell or (last and outcome.reply is None)
        # What failed before, amid answers to others, says more about its own texts than about the endpoint:
        # a run that asks for the last few calls again must not end over them.
        if not (strange or eaten or unwell) or self._log.failed_alone(call.key):
            return None
        self._strange += strange
        self._eaten += eaten
        self._unwell += unwell
        reason = outcome.reason if outcome.reply is None else outcome.reply.reason
        if strange and self._strange >= _STRANGE:
            return InputError(
                f"no API at {self._options.endpoint}: {reason}",
                hint="is the server running, and the base URL that of an OpenAI-compatible API? "
                "It mostly ends in /v1",
            )
        if eaten and self._eaten >= _EATEN:
            return InputError(
                f"the model '{self._options.model}' thinks so long that the answer budget of "
                f"{call.budget} tokens is used up before it answers ({self._eaten} of {self._eaten} calls)",
                hint="give a larger budget with --max-tokens; thinking counts",
            )
        # As many as can be under way at once, twice, and not one answer between them.
        most = max(2 * self._options.concurrency, 8) if self.proven else _STRANGE
        if unwell and self._unwell >= most:
            return InputError(
                f"{self._unwell} calls to {self._options.endpoint} failed one after the other, "
                f"the last because: {reason}",
                hint="what was answered is kept; run again when the endpoint is well"
                + ("; if it does not bind answers to a schema: --structured off" if call.schema else ""),
            )
        return None
