"""What a judge asks about one request, step by step, and what it makes of the replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from challenge_sets import MarkedError
from metrics.judges.forms import Judged, Verdict
from metrics.judges.options import JudgeOptions
from metrics.judges.prompt_sets import Inputs, Prompt, PromptSet
from metrics.judges.reading import read_answer
from metrics.llm.calls import Call, Reply
from metrics.llm.log import CallLog
from metrics.requests import Answer, Request


class Reached(NamedTuple):
    """Where a request stands: the call of the step that it came to, and the answer to it, if it is there.

    An answer is there at the last step, and at one whose reply was not understood.
    """

    step: int
    call: Call
    hazards: tuple[str, ...]
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Questions:
    """The calls of one judge. ``purpose`` is its signature, ``structured`` whether it answers in JSON."""

    prompts: PromptSet
    options: JudgeOptions
    target_lang: str
    """The name of the target language in the prompts."""
    parameters: Mapping[str, Any]
    structured: bool
    purpose: str

    def call(self, request: Request, step: int, earlier: str = "") -> tuple[Call, tuple[str, ...]]:
        """The call of a step, and the kinds of hazards in its texts; ``earlier`` is the answer before it."""
        prompt = self._prompt(request, step, earlier)
        options = self.options
        return Call(
            endpoint=options.llm.endpoint,
            model=options.llm.model,
            messages=prompt.messages,
            parameters=self.parameters,
            schema=self.prompts.steps[step].schema if self.structured else None,
            prompts=self.prompts.asking,
            sample=options.sample,
            purpose=self.purpose,
            subject=_hypothesis(request),
        ), prompt.hazards

    def _prompt(self, request: Request, step: int, earlier: str) -> Prompt:
        inputs = Inputs(
            source_lang=self.prompts.language(request.source_lang),
            target_lang=self.target_lang,
            source=request.source,
            hypothesis=request.hypothesis,
            reference=request.reference,
            context=request.context,
            segments=request.document,
            earlier=earlier.strip(),
        )
        return self.prompts.steps[step].messages(inputs, self.structured)

    def read(self, request: Request, text: str, step: int) -> Verdict:
        """What the answer to a step says."""
        others = [each for turn in request.context for each in (turn.speaker, turn.text)]
        references = (request.reference, *(segment.reference for segment in request.document))
        others += [reference for reference in references if reference]
        source = request.source or " ".join(segment.source for segment in request.document)
        judged = Judged(_hypothesis(request), source, tuple(others))
        return read_answer(text, self.prompts.steps[step].form_for(self.structured), judged)

    def answer(
        self, request: Request, reply: Reply, step: int, errors: tuple[MarkedError, ...] | None
    ) -> Answer:
        """What a last reply says; ``errors`` are those that an earlier step marked."""
        if reply.status != "ok":
            return Answer(None, reply.status, reply.reason)
        verdict = self.read(request, reply.text, step)
        if not verdict.understood:
            return Answer(None, "unparsed", verdict.reason)
        scoring = self.prompts.scoring
        raw = verdict.number if scoring is None else scoring.penalty(verdict.errors or ())
        marked = verdict.errors if errors is None else errors
        return Answer(raw, errors=marked, labels=verdict.labels)

    def reached(self, request: Request, log: CallLog | None) -> Reached:
        """How far a request has come by the answers of the log."""
        errors: tuple[MarkedError, ...] | None = None
        earlier = ""
        for step in range(len(self.prompts.steps)):
            call, hazards = self.call(request, step, earlier)
            reply = None if log is None else log.answer(call.key)
            if reply is None:
                break
            verdict = self.read(request, reply.text, step) if step + 1 < len(self.prompts.steps) else None
            if verdict is None or not verdict.understood:
                return Reached(step, call, hazards, self.answer(request, reply, step, errors))
            errors, earlier = verdict.errors, reply.text
        return Reached(step, call, hazards, None)

    def left(self, request: Request, log: CallLog | None) -> Iterator[Call]:
        """The calls that a request still needs, the next one first; none where that waits in a batch."""
        step, call, _, answer = self.reached(request, log)
        if answer is not None or (log is not None and log.waiting([call.key])):
            return
        yield call
        # The steps after it go by an answer that is not known yet.
        for later in range(step + 1, len(self.prompts.steps)):
            yield self.call(request, later)[0]

    def all_left(self, requests: Iterable[Request], log: CallLog | None) -> Iterator[Call]:
        """The calls that requests still need, each once."""
        met: set[bytes] = set()
        for request in requests:
            for call in self.left(request, log):
                if call.key not in met:
                    met.add(call.key)
                    yield call


def _hypothesis(request: Request) -> str:
    return request.hypothesis or " ".join(segment.hypothesis for segment in request.document)
