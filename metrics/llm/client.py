"""Asking: many calls at once through one retry loop, each outcome in the log the moment it is there."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from challenge_sets import InputError, MissingExtraError
from challenge_sets.console import notice
from metrics.llm.budget import Budget
from metrics.llm.calls import WAITING, Call, Reply, Usage
from metrics.llm.exchanges import LONGEST_WAIT, Outcome, read_exchange, redacted
from metrics.llm.health import Health
from metrics.llm.interruptions import Interruptions
from metrics.llm.log import CallLog
from metrics.llm.options import LlmOptions
from metrics.llm.queue import CallQueue
from metrics.llm.waits import LONGEST_OWN_WAIT, pause

# Seconds that calls under way are given to come in when a run ends before its time.
_GRACE = 15.0
# Seconds between two looks at what else may have happened: an interruption, an answer to another process.
_GLANCE = 0.2

# Failures of a connection that was never there, as the client's transports call them.
_NOT_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"})

# Bytes of a response, unpacked: no answer of a model is nearly as long.
_LARGEST = 32_000_000
_TOO_LARGE = f"the response is larger than {_LARGEST // 1_000_000} MB"

Follow = Callable[[Call, Reply], Call | None]
Settled = tuple[Call, Reply | None]


class _Stop(Exception):
    """Ends the run; the calls under way are let in first."""

    def __init__(self, problem: InputError) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Client:
    """Asks one model. ``ask`` may be used again and again; ``close`` gives the connections back.

    Answers come from the log where it holds them. A call that fails is tried again where that can help, with
    the same parameters, up to ``attempts`` times, waiting longer each time and as long as the endpoint asks;
    what the whole run would meet again (a wrong key, an unknown model, no credit, or one failure after the
    other) ends it with an ``InputError``. ``MissingExtraError`` without the extra ``judge``.
    """

    def __init__(self, options: LlmOptions, log: CallLog) -> None:
        self._options = options
        self._key = options.key()
        self._log = log
        self.budget = Budget(options)
        self._http = _connect(options, self._key)
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._health = Health(options, log)
        self._interruptions = Interruptions(deferring=self._loop.is_running)

    def close(self) -> None:
        """Let calls under way come in and close the connections."""
        if not self._loop.is_closed():
            self._wind_up(asyncio.all_tasks(self._loop))
            self._loop.run_until_complete(self._http.close())
            self._loop.close()

    def ask(self, calls: Iterable[Call], follow: Follow | None = None) -> Iterator[list[tuple[Call, Reply]]]:
        """Yield calls with their replies as they come, in no order; few calls are held at a time.

        ``follow`` may give a further call that goes by a reply. Raises ``InputError`` where the run has to
        end; everything that was answered by then was yielded or is in the log.
        """
        queue = CallQueue(calls)
        running: set[asyncio.Task[Settled]] = set()
        self._interruptions.begin()
        try:
            while True:
                self._interruptions.check()
                done = self._fill(running, queue)
                if running and not done:
                    done = self._results(running, queue)
                if done:
                    if follow is not None:
                        queue.push(filter(None, (follow(call, reply) for call, reply in done)))
                    yield done
                elif not running and queue.exhausted:
                    if not queue.deferred:
                        break
                    # What is left is being asked by another process.
                    time.sleep(_GLANCE)
                    queue.retry_deferred()
        except BaseException as error:
            if running and isinstance(error, KeyboardInterrupt):
                notice(f"waiting for {len(running)} calls under way; once more to leave at once")
            self._wind_up(running)
            if isinstance(error, _Stop):
                raise error.problem from None
            raise
        finally:
            self._interruptions.end()
        # One that came at the very end.
        self._interruptions.check()

    def _fill(self, running: set[asyncio.Task[Settled]], queue: CallQueue) -> list[tuple[Call, Reply]]:
        """Start as many calls as may be under way; gives those that the log could answer."""
        # Before the first answer calls go one at a time: what is wrong with all of them is paid once.
        places = self._options.concurrency if self._health.proven else 1
        done: list[tuple[Call, Reply]] = []
        while len(running) + queue.held < places and len(done) < self._options.concurrency:
            call = queue.next()
            if call is None:
                break
            stored = self._log.answer(call.key)
            if stored is not None:
                done.append((call, stored))
            elif not queue.hold(call):
                running.add(self._loop.create_task(self._settle(call)))
        return done

    def _results(self, running: set[asyncio.Task[Settled]], queue: CallQueue) -> list[tuple[Call, Reply]]:
        """Run until a call has come to its end or there may be something else to do."""
        self._wait_for_one(running, _GLANCE)
        finished = {task for task in running if task.done()}
        running -= finished
        results: list[tuple[Call, Reply]] = []
        errors = [error for task in finished if (error := task.exception()) is not None]
        if errors:
            raise errors[0]
        for task in finished:
            call, reply = task.result()
            same = queue.settle(call)
            if reply is None:
                queue.deferred += [call, *same]
            else:
                again = replace(reply, usage=Usage(), cost=None, stored=True) if same else reply
                results += [(call, reply), *((each, again) for each in same)]
        return results

    def _wait_for_one(self, running: Collection[asyncio.Task[Settled]], seconds: float) -> None:
        waiting = asyncio.wait(running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        self._loop.run_until_complete(waiting)

    def _wind_up(self, running: Collection[asyncio.Task[Any]]) -> None:
        """Let the calls under way come in, so that what is paid is kept; a second interruption ends that."""
        if not running or self._loop.is_closed():
            return
        self._ending.set()
        left = set(running)
        patience = self._loop.time() + _GRACE
        try:
            while left and self._interruptions.heard < 2 and self._loop.time() < patience:
                self._wait_for_one(left, _GLANCE)
                left = {task for task in left if not task.done()}
        finally:
            for task in left:
                task.cancel()
            # The outcome of each is looked at, or asyncio complains of errors that nobody saw.
            self._loop.run_until_complete(asyncio.gather(*running, return_exceptions=True))
            self._ending.clear()

    async def _settle(self, call: Call) -> Settled:
        """Ask until there is an outcome, and log it; no reply where another process is asking the same."""
        flaw = _flaw(call)
        if flaw:
            return call, Reply("failed", reason=flaw, attempts=0)
        if not self._log.claim(call.key, self._patience):
            held = self._log.waiting([call.key])
            return call, Reply("failed", reason=WAITING, attempts=0) if held else None
        problem = None
        try:
            # Between the look at the log and the claim another process may have answered.
            reply = self._log.answer(call.key)
            asked = reply is None
            if reply is None:
                reply, problem = await self._persist(call)
                asked = reply.attempts > 0
            if asked:
                self._log.record(call, reply)
            else:
                self._log.release(call.key)
        except BaseException:
            self._log.release(call.key)
            raise
        if problem is not None:
            raise _Stop(problem)
        return call, reply

    @property
    def _patience(self) -> float:
        """Seconds in which an attempt and the wait before the next one are surely over."""
        return self._options.timeout + LONGEST_WAIT + 2 * LONGEST_OWN_WAIT

    async def _persist(self, call: Call) -> tuple[Reply, InputError | None]:
        """The reply after all attempts, and the error that ends the run, if there is one."""
        usage, reason, attempt, latency = Usage(), "the run ended before it was asked", 0, 0.0
        reply, problem, unpriced = None, None, False
        while attempt < self._options.attempts and not self._ending.is_set():
            if not await self._afford(call):
                limit = f"{self.budget.limit:g} {self.budget.currency}"
                before = f"{reason}; " if attempt else ""
                reason = f"{before}the cost could have passed the limit of {limit}"
                break
            attempt += 1
            if attempt > 1 or self.budget.limit is not None:
                # Waiting, for the endpoint or for money, has used up some of the time that was claimed.
                self._log.claim(call.key, self._patience)
            outcome, latency = await self._timed_attempt(call)
            usage += outcome.usage
            unpriced |= outcome.answered and not outcome.usage.known
            last = attempt == self._options.attempts
            problem = self._health.problem(outcome, call, last=last)
            reason = outcome.reason if problem is None else problem.problem
            reply = outcome.reply
            if reply is not None or problem is not None:
                break
            if not last:
                await self._pause(pause(attempt, outcome.wait))
        if reply is None:
            reply = Reply("failed", reason=reason if attempt <= 1 else f"{reason} (tried {attempt} times)")
        cost = None if unpriced else self._cost(usage)
        return replace(reply, usage=usage, cost=cost, latency=latency, attempts=attempt), problem

    async def _timed_attempt(self, call: Call) -> tuple[Outcome, float]:
        reserved = self.budget.reserve(call)
        began = time.monotonic()
        # What an attempt that is cut off leaves behind.
        outcome = Outcome(lost=True)
        try:
            # The client's own limit is that of one read: a response that drips could take for ever.
            outcome = await asyncio.wait_for(self._attempt(call), self._options.timeout)
        except TimeoutError:
            outcome = self._late()
        finally:
            self.budget.settle(reserved, outcome.usage, uncounted=outcome.answered or outcome.lost)
        return outcome, time.monotonic() - began

    def _cost(self, usage: Usage) -> float | None:
        if self.budget.price is None:
            return None
        return self.budget.cost(usage) if usage.known else 0.0

    async def _afford(self, call: Call) -> bool:
        """Wait until the call fits into the budget; ``False`` where it never will."""
        while not self.budget.admits(call):
            if self.budget.idle or self._ending.is_set():
                return False
            await asyncio.sleep(0.02)
        return True

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), seconds)

    async def _attempt(self, call: Call) -> Outcome:
        import openai

        body = bytearray()
        try:
            # The whole body as an extra one: a parameter is walked through field by field, which takes the
            # client longer than everything else it does.
            async with self._http.chat.completions.with_streaming_response.create(
                model=call.model, messages=[], extra_body=call.body(), timeout=self._options.timeout
            ) as response:
                status, sent = response.status_code, response.headers
                async for piece in response.iter_bytes():
                    body += piece
                    if len(body) > _LARGEST:
                        return Outcome(reply=Reply("failed", reason=_TOO_LARGE), answered=True, unwell=True)
        except openai.APIStatusError as error:
            status, sent = error.response.status_code, error.response.headers
            body = bytearray(error.response.content)
        except openai.APIConnectionError as error:
            if isinstance(error, openai.APITimeoutError):
                return self._late()
            return self._broken(error.__cause__ or error)
        except Exception as error:  # in the middle of a body: whatever the transport in use raises
            return self._broken(error)
        headers = {name.lower(): value for name, value in sent.items()}
        text = body.decode("utf-8", "replace")
        return read_exchange(status, headers, text, self._options, self._key)

    def _broken(self, cause: BaseException) -> Outcome:
        name = type(cause).__name__
        said = redacted(f"{name}: {cause}", self._key).rstrip(": ")
        return Outcome(reason=f"the connection failed: {said}", alien=True, lost=name not in _NOT_SENT)

    def _late(self) -> Outcome:
        return Outcome(reason=f"no answer within {self._options.timeout:g} seconds", alien=True, lost=True)


def _flaw(call: Call) -> str:
    """Why a call cannot be sent, if it cannot."""
    try:
        for message in call.messages:
            message["content"].encode("utf-8")
    except UnicodeEncodeError as error:
        return f"a text cannot be sent: {error.reason}"
    return ""


def _connect(options: LlmOptions, key: str) -> Any:
    try:
        import openai
    except ImportError:
        raise MissingExtraError("asking a large language model", "judge") from None
    # Every retry is ours: the client's own would hide what an attempt cost and why it failed. Texts go to the
    # address that the user gave, and not to where that sends them on.
    http = openai.DefaultAsyncHttpxClient(follow_redirects=False)
    return openai.AsyncOpenAI(api_key=key, base_url=options.endpoint, max_retries=0, http_client=http)
