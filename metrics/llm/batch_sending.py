"""The way of a batch to its endpoint, step by step, and what is done about one that was left on it."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from pathlib import Path

from challenge_sets import InputError
from challenge_sets.console import notice
from metrics.llm.batch_api import BatchApi, Refused, Unanswered, sound_id
from metrics.llm.batch_files import RequestFile, keyed_lines
from metrics.llm.batch_log import BatchLog
from metrics.llm.batch_records import ON_THE_WAY, Batch, BatchLimits, Terms
from metrics.llm.exchanges import redacted

LAG = 10.0
"""Seconds in which an endpoint may list a batch that it has just made."""

# A file that is refused in so many sizes is not refused for its size.
_HALVINGS = 10
_LINES_AT_ONCE = 500


class Sender:
    """Uploads files of requests and makes batches of them; ``made`` are their numbers in the log.

    ``limits`` shrink where the endpoint turns out to take less.
    """

    def __init__(self, api: BatchApi, log: BatchLog, terms: Terms, folder: Path, limits: BatchLimits) -> None:
        self._api = api
        self._log = log
        self._terms = terms
        self._folder = folder
        self.limits = limits
        self.made: list[int] = []

    def begin(self) -> tuple[int, RequestFile]:
        """A new batch: its number, and the file to write its requests to."""
        # Nobody else's batch at the endpoint has this name.
        name = f"mt-blindspots-{secrets.token_hex(12)}"
        number = self._log.begin(name, self._terms)
        try:
            return number, RequestFile(self._log.batch(number).path(self._folder))
        except BaseException:
            self.abandon(number, "its file could not be written")
            raise

    def abandon(self, number: int, note: str) -> None:
        """Give a batch up that is none yet: its calls are free again, its files are removed.

        Nothing happens where this process does not hold it.
        """
        _abandon(self._log.batch(number), note, self._log, self._folder, self._api)

    def send(self, number: int, halvings: int = 0) -> None:
        """Upload the file of a batch and make the batch; a file that is too large in two halves.

        ``InputError`` where that cannot be; the calls are free again then, unless the endpoint may have
        made the batch nevertheless.
        """
        batch = self._log.batch(number)
        path = batch.path(self._folder)
        try:
            self._log.step(number, "uploading")
            size = path.stat().st_size
            file = self._api.upload(path)
            self._log.step(number, "creating", file=file)
            said = self._api.create(file, batch.name)
            remote = sound_id(said.get("id"))
            if not remote:
                raise Unanswered(f"{self._terms.options.endpoint} gave no usable id of the batch")
        except Refused as refused:
            if refused.too_large and batch.requests > 1 and halvings < _HALVINGS:
                self._learn(self._log.batch(number), size)
                self._halve(self._log.batch(number), halvings)
                return
            self.abandon(number, refused.reason)
            raise InputError(
                f"the batch was refused by {refused.problem}", hint="its calls are free to be asked again"
            ) from None
        except Unanswered as unanswered:
            self._leave(number)
            raise InputError(
                f"no batch was made: {unanswered.problem}",
                hint="run again later; should the endpoint have made it nevertheless, it will be found",
            ) from None
        except InputError:
            self.abandon(number, "it could not be submitted")
            raise
        except BaseException:
            self._leave(number)
            raise
        if not self._log.observe(number, state="open", remote=remote, status=status_of(said)):
            self._api.cancel(remote)
            raise InputError("another process took this batch for abandoned", hint="submit again")
        self.made.append(number)

    def _leave(self, number: int) -> None:
        """After a step without a clear end: nothing was made before the step that makes."""
        if self._log.batch(number).state == "creating":
            self._log.let_go(number)
        else:
            self.abandon(number, "it could not be uploaded")

    def _learn(self, batch: Batch, size: int) -> None:
        if batch.state == "creating":
            self.limits = replace(self.limits, requests=min(self.limits.requests, (batch.requests + 1) // 2))
        else:
            self.limits = replace(self.limits, bytes=min(self.limits.bytes, (size + 1) // 2))

    def _halve(self, batch: Batch, halvings: int) -> None:
        half, seen = (batch.requests + 1) // 2, 0
        halves: list[tuple[int, RequestFile]] = []
        try:
            halves += [self.begin(), self.begin()]
            for lines in keyed_lines(batch.path(self._folder), _LINES_AT_ONCE):
                cut = max(0, half - seen)
                seen += len(lines)
                for (number, file), part in zip(halves, (lines[:cut], lines[cut:]), strict=True):
                    self._log.move([key for key, _ in part], batch.number, number)
                    file.write(line for _, line in part)
            for _, file in halves:
                file.close()
            self.abandon(batch.number, "the endpoint takes smaller files only: it went on in two halves")
            while halves:
                number, _ = halves[0]
                self.send(number, halvings + 1)
                halves.pop(0)
        except BaseException:
            for number, file in halves:
                file.close()
                self.abandon(number, "it could not be submitted")
            self.abandon(batch.number, "it could not be submitted")
            raise


def recover(batch: Batch, log: BatchLog, folder: Path, api: BatchApi) -> int:
    """See to a batch that its process left on the way; gives how many calls became free.

    Where the endpoint has it, it goes on from there. Nothing happens where a process has it in hand still.
    """
    if batch.state not in ON_THE_WAY or not log.take(batch.number):
        return 0
    batch = log.batch(batch.number)
    try:
        if batch.state == "creating":
            time.sleep(min(LAG, max(0.0, batch.at + LAG - time.time())))
            for found in api.named(batch.name, batch.since):
                if remote := sound_id(found.get("id")):
                    log.observe(batch.number, state="open", remote=remote, status=status_of(found))
                    notice(f"{batch.name} had reached the endpoint")
                    return 0
    except BaseException:
        log.let_go(batch.number)
        raise
    return _abandon(batch, "its process ended before it was submitted", log, folder, api)


def _abandon(batch: Batch, note: str, log: BatchLog, folder: Path, api: BatchApi) -> int:
    if not log.holds(batch.number):
        return 0
    if batch.file:
        # Without its file the endpoint could not begin with it, should it come to know of it after all.
        api.delete(batch.file)
    batch.path(folder).unlink(missing_ok=True)
    return log.abandon(batch.number, note)


def status_of(said: object) -> str:
    """The endpoint's word for where a batch stands; ``unknown`` where it has none."""
    status = said.get("status") if isinstance(said, dict) else None
    return redacted(status)[:40] if isinstance(status, str) and status.strip() else "unknown"
