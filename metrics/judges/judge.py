"""The metric that a prompt set and a model make together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Self

from challenge_sets import InputError, MarkedError, MissingExtraError
from challenge_sets.console import progress
from challenge_sets.files import dump_json
from metrics.base import Account, Metric, extra_available
from metrics.judges.abilities import answers_structured, trial
from metrics.judges.options import JudgeOptions
from metrics.judges.prompt_sets import PromptSet
from metrics.judges.questions import Questions
from metrics.llm.calls import WAITING, Call, Reply
from metrics.llm.client import Client
from metrics.llm.log import CallLog, Reading
from metrics.llm.prices import Bill, forecast
from metrics.requests import WHOLE, Answer, ModelOptions, Reach, Request, Settings

# What a score depends on besides the prompts: raised with every change in how answers are read.
_READING = "1"
_UNASKED = "it was never answered"


@dataclass(slots=True)
class _Asked:
    """A call under way: which requests it is for, which step it is, and what the steps before it marked."""

    places: list[int]
    step: int
    hazards: tuple[str, ...]
    errors: tuple[MarkedError, ...] | None = None


@dataclass(slots=True)
class _Work:
    """What is done for the requests of one batch."""

    requests: Sequence[Request]
    asked: dict[bytes, _Asked] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)


class Judge(Metric):
    """A large language model that judges by a prompt set. Subclasses name the prompt set."""

    # As many as the runner sorts together: a judge works through one batch after the other.
    batch: ClassVar[int] = 8192
    remote: ClassVar[bool] = True
    extras: ClassVar[Mapping[str, tuple[str, ...]]] = {"judge": ()}
    prompt_set: ClassVar[PromptSet]

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if settings.judge is None:
            raise InputError(
                f"the judge '{self.name}' needs a model to ask", hint="--model NAME, and --base-url URL"
            )
        self._options: JudgeOptions = settings.judge
        self._target = self.prompt_set.language(settings.target_lang)
        again = "" if self._options.sample == 1 else f"#{self._options.sample}"
        self.name = self.prompt_set.name + again  # type: ignore[misc]  # by repetition
        if self._options.asks:
            self._options.llm.key()
        self._client: Client | None = None

    @classmethod
    def load_prompts(cls) -> PromptSet:
        """Read the prompt set; ``InputError`` where it cannot be used."""
        return cls.prompt_set

    @classmethod
    def configured(cls, model: ModelOptions) -> type[Self]:
        """The class with its prompts read; ``MissingExtraError`` without the extra."""
        if not extra_available("judge"):
            raise MissingExtraError(f"the judge {cls.name}", "judge")
        return cls.of(cls.load_prompts())

    @classmethod
    def of(cls, prompts: PromptSet) -> type[Self]:
        """The class that judges by these prompts."""
        return type(
            cls.__name__,
            (cls,),
            {
                "__module__": cls.__module__,
                "prompt_set": prompts,
                "needs": prompts.needs,
                "unit": prompts.unit,
                "higher_is_better": prompts.higher_is_better,
                "description": prompts.description,
                "citation": prompts.citation,
            },
        )

    @classmethod
    def repeated(cls, settings: Settings) -> list[Settings]:
        """One settings object a sample."""
        judge = settings.judge
        if judge is None:
            return [settings]
        numbers = range(1, judge.samples + 1)
        return [replace(settings, judge=replace(judge, sample=number)) for number in numbers]

    @classmethod
    def inputs(cls) -> tuple[str, ...]:
        """The texts that the prompts need, and the source language, which they name."""
        return (*super().inputs(), "source_lang")

    @property
    def reach(self) -> Reach | None:
        """The whole document for a judge of documents."""
        if self.unit != "document":
            return None
        return Reach(
            WHOLE, tuple(name for name in self.inputs() if name in ("hypothesis", "source", "reference"))
        )

    def devices(self) -> tuple[str, ...]:
        """One process: the calls of all texts share its connections and its limits."""
        return ("endpoint",)

    @property
    def model_key(self) -> str:
        """The endpoint and the model."""
        return f"llm {self._options.llm.endpoint} {self._options.llm.model}"

    def check_sources(self, languages: Sequence[str]) -> None:
        """``InputError`` for a source language that the prompts have no name for."""
        for language in languages:
            self.prompt_set.language(language)

    def parts(self) -> Mapping[str, str]:
        """Model, endpoint, prompts, sampling, scoring, and the number of the repetition."""
        prompts = self.prompt_set
        return {
            "model": self._options.llm.model,
            "endpoint": self._options.llm.endpoint,
            "prompts": f"{prompts.name} {prompts.version}",
            "digest": prompts.digest[:16],
            # One part: a parameter may bear the name of any other part.
            "parameters": dump_json(dict(sorted(self._parameters.items()))),
            "structured": "on" if self._structured else "off",
            **({} if prompts.scoring is None else prompts.scoring.parts()),
            "better": "higher" if prompts.higher_is_better else "lower",
            "reading": _READING,
            "sample": str(self._options.sample),
        }

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        return self._options.llm.parameters(self.prompt_set.max_tokens)

    @cached_property
    def _structured(self) -> bool:
        return answers_structured(self.prompt_set, self._options, self._asker)

    @property
    def _asker(self) -> str:
        """What tells this judge from the others of a run."""
        digest = self.prompt_set.digest[:16]
        return f"{self.name} {digest} {self.settings.target_lang} {self.settings.reference}"

    @cached_property
    def _purpose(self) -> str:
        return self.signature()

    @cached_property
    def _questions(self) -> Questions:
        return Questions(
            self.prompt_set, self._options, self._target, self._parameters, self._structured, self._purpose
        )

    @cached_property
    def _log(self) -> CallLog | None:
        if self._options.asks:
            return CallLog(self._options.log)
        return CallLog(self._options.log, read_only=True) if self._options.log.is_file() else None

    def close(self) -> None:
        """Close the connections and the log."""
        if self._client is not None:
            self._client.close()
            self._client = None
        if "_log" in self.__dict__:
            if self._log is not None:
                self._log.close()
            del self.__dict__["_log"]

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        """One answer a request, in order."""
        found: dict[int, Answer] = {}
        for part in self.score_in_turn(requests):
            found |= part
        return [found[place] for place in range(len(requests))]

    def score_in_turn(self, requests: Sequence[Request]) -> Iterator[dict[int, Answer]]:
        """Every answer as it comes in; those that the log holds are not asked for."""
        log = self._log
        if log is None or not self._options.asks:
            yield self._kept(requests)
            return
        if self._client is None:
            self._client = Client(self._options.llm, log)
            self._client.budget = self._options.budget
        work = _Work(requests)
        answers = self._client.ask(
            self._calls(work, log), lambda call, reply: self._follow(work, log, call, reply)
        )
        for part in progress(answers, what=self.name):
            complete: dict[int, Answer] = {}
            readings: list[Reading] = []
            for call, reply in part:
                asked = work.asked.pop(call.key, None)
                # Not there: the answer led to a further call.
                if asked is not None:
                    request = requests[asked.places[0]]
                    answer = self._questions.answer(request, reply, asked.step, asked.errors)
                    complete |= dict.fromkeys(asked.places, answer)
                    if reply.status == "ok":
                        readings.append(Reading(call.key, answer.status, answer.reason, asked.hazards))
            if readings:
                log.note(self._purpose, readings)
            if complete:
                yield complete
        if work.waiting:
            yield dict.fromkeys(work.waiting, Answer(None, "failed", WAITING))

    def _calls(self, work: _Work, log: CallLog) -> Iterator[Call]:
        for place, request in enumerate(work.requests):
            call, hazards = self._questions.call(request, 0)
            if call.key in work.asked:
                work.asked[call.key].places.append(place)
            elif log.waiting([call.key]):
                work.waiting.append(place)
            else:
                work.asked[call.key] = _Asked([place], 0, hazards)
                yield call

    def _follow(self, work: _Work, log: CallLog, call: Call, reply: Reply) -> Call | None:
        """The call that goes by a reply; ``None`` where it was the last step, or was not understood."""
        asked = work.asked[call.key]
        if reply.status != "ok" or asked.step + 1 == len(self.prompt_set.steps):
            return None
        request = work.requests[asked.places[0]]
        verdict = self._questions.read(request, reply.text, asked.step)
        if not verdict.understood:
            return None
        del work.asked[call.key]
        log.note(self._purpose, [Reading(call.key, "ok", "", asked.hazards)])
        following, hazards = self._questions.call(request, asked.step + 1, reply.text)
        if following.key in work.asked:
            work.asked[following.key].places += asked.places
            return None
        if log.waiting([following.key]):
            work.waiting += asked.places
            return None
        work.asked[following.key] = _Asked(asked.places, asked.step + 1, hazards, verdict.errors)
        return following

    def _kept(self, requests: Sequence[Request]) -> dict[int, Answer]:
        """The answers that the log holds; nothing is asked."""
        answers: dict[int, Answer] = {}
        readings: list[Reading] = []
        log = self._log
        for place, request in enumerate(requests):
            _, call, hazards, answer = self._questions.reached(request, log)
            if answer is not None:
                readings.append(Reading(call.key, answer.status, answer.reason, hazards))
            elif log is None:
                answer = Answer(None, "failed", _UNASKED)
            elif log.waiting([call.key]):
                answer = Answer(None, "failed", WAITING)
            else:
                answer = Answer(None, *(log.failure(call.key) or ("failed", _UNASKED)))
            answers[place] = answer
        if readings:
            writing = CallLog(self._options.log)
            writing.note(self._purpose, readings)
            writing.close()
        return answers

    def outstanding(self, requests: Iterable[Request]) -> Iterator[Call]:
        """The next call of every request that has no answer yet and waits in no batch."""
        for request in requests:
            yield from islice(self._questions.left(request, self._log), 1)

    def forecast(self, requests: Sequence[Request]) -> Bill | None:
        """What asking for the answers that are not there would take, without thinking.

        Calls that wait in a batch are not counted.
        """
        calls = self._questions.all_left(requests, self._log)
        budget, usual = self._options.budget, self.prompt_set.typical_tokens
        return forecast(calls, usual, budget.price, budget.currency, batch=self._options.batched)

    def account(self) -> Account | None:
        """What this process asked and paid, and how many of the texts held something hostile."""
        if self._log is None:
            return None
        bill = self._log.bill(self._purpose, only_this_run=True)
        bill += self._log.bill(trial(self._asker), only_this_run=True)
        currency = self._options.budget.currency
        hazards, models = self._log.hazards(self._purpose), self._log.answering(self._purpose)
        return Account(replace(bill, currency=currency), hazards, models)
