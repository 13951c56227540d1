"""What comes back of batches: where each stands, and the answers of those that are over."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self

from challenge_sets import InputError
from challenge_sets.files import make_directory
from metrics.llm.batch_api import BatchApi, Refused, Unanswered, sound_id
from metrics.llm.batch_files import results
from metrics.llm.batch_intake import Intake
from metrics.llm.batch_log import BatchLog
from metrics.llm.batch_records import ENDED, ON_THE_WAY, Batch, Collected
from metrics.llm.batch_sending import recover, status_of
from metrics.llm.exchanges import redacted

_ERRORS_TOLD = 3


def refresh(log: BatchLog, folder: Path) -> list[Batch]:
    """Ask the endpoints where every batch stands that is not over; gives all batches of the log.

    A batch that its process left on its way is looked for, or abandoned. ``trouble`` of a batch says why it
    could not be asked about. Raises ``InputError`` where the keys of all endpoints are wrong or missing.
    """
    troubles: dict[int, str] = {}
    with _Endpoints() as endpoints:
        for batch in log.batches(unfinished=True):
            try:
                if batch.state != "ended":
                    _look(batch, log, folder, endpoints)
            except InputError as error:
                troubles[batch.number] = str(error)
        endpoints.raise_if_closed()
    return [replace(batch, trouble=troubles.get(batch.number, "")) for batch in log.batches()]


def collect(log: BatchLog, folder: Path, forget: Collection[str] = ()) -> list[Collected]:
    """Fetch the results of every batch that is over, and write them to the log.

    Each complete answer is final; whatever else came of a call stands in the journal, and the call is free to
    be submitted again. So are the calls of a batch that failed or did not reach the endpoint. Batches that
    go on are not mentioned. Killed in between, it goes on the next time where it stopped.

    ``forget`` names batches to give up that cannot be collected. Raises ``InputError`` where the keys of all
    endpoints are wrong or missing, and for a name that is no batch's or that of one that goes on.
    """
    make_directory(folder)
    unfinished = log.batches(unfinished=True)
    for name in sorted(set(forget) - {batch.name for batch in unfinished}):
        raise InputError(f"no batch to give up is called '{name}'", hint="batch status names them")
    collected = []
    with _Endpoints() as endpoints:
        for batch in unfinished:
            try:
                one = _collect(batch, log, folder, endpoints)
            except InputError as error:
                one = Collected(log.batch(batch.number), trouble=str(error))
            if batch.name in forget:
                one = _forget(batch, one, log, folder)
            if one is not None:
                collected.append(one)
        if not forget:
            endpoints.raise_if_closed()
    return collected


def _forget(batch: Batch, one: Collected | None, log: BatchLog, folder: Path) -> Collected:
    if one is None:
        raise InputError(
            f"{batch.name} goes on, it cannot be given up",
            hint="only a batch that cannot be collected can; batch status says where each stands",
        )
    if not one.trouble:
        return one
    batch.path(folder).unlink(missing_ok=True)
    freed = log.close_batch(batch.number, f"given up: {one.trouble.splitlines()[0]}")
    return Collected(log.batch(batch.number), free=freed)


class _UnusableError(InputError):
    """Results that the endpoint gives, and that are none."""


class _Endpoints:
    """The endpoints of batches, each connected once; one that does not answer is not asked again."""

    def __init__(self) -> None:
        self._apis: dict[tuple[str, str], BatchApi] = {}
        self._silent: dict[tuple[str, str], InputError] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def of(self, batch: Batch) -> BatchApi:
        """The endpoint of a batch."""
        key = self._key(batch)
        if key in self._silent:
            raise self._silent[key]
        try:
            if key not in self._apis:
                self._apis[key] = self._stack.enter_context(BatchApi(batch.terms.options))
        except InputError as error:
            self.silence(batch, error)
            raise
        return self._apis[key]

    def silence(self, batch: Batch, error: InputError) -> None:
        """Ask this endpoint nothing more, unless it did understand."""
        if not isinstance(error, Refused | _UnusableError):
            self._silent.setdefault(self._key(batch), error)

    def raise_if_closed(self) -> None:
        """Raise the first problem where no endpoint lets the user in; one that is down may come back."""
        problems = [error for error in self._silent.values() if not isinstance(error, Unanswered)]
        if problems and len(problems) == len({*self._apis, *self._silent}):
            raise problems[0]

    @staticmethod
    def _key(batch: Batch) -> tuple[str, str]:
        return batch.terms.options.endpoint, batch.terms.options.key_name


def _look(batch: Batch, log: BatchLog, folder: Path, endpoints: _Endpoints) -> int:
    """Bring what the log knows of a batch up to date; gives how many calls became free."""
    api = endpoints.of(batch)
    try:
        if batch.state in ON_THE_WAY:
            freed = recover(batch, log, folder, api)
            if log.batch(batch.number).state != "open":
                return freed
            batch = log.batch(batch.number)
        said = api.batch(batch.remote)
    except InputError as error:
        endpoints.silence(batch, error)
        if isinstance(error, Refused) and error.absent:
            raise InputError(
                f"the endpoint does not know the batch {batch.remote}: {error.reason}",
                hint=f"was it submitted with the key of another project than that in "
                f"{batch.terms.options.key_name}? Give it up with: batch collect --forget {batch.name}",
            ) from None
        raise
    status = status_of(said)
    log.observe(
        batch.number,
        state="ended" if status in ENDED else "open",
        status=status,
        output=sound_id(said.get("output_file_id")),
        errors=sound_id(said.get("error_file_id")),
        note=_errors(said, api.key),
        **_counts(said.get("request_counts")),
    )
    return 0


def _counts(value: Any) -> dict[str, int]:
    found = value if isinstance(value, dict) else {}
    return {
        name: count
        for name in ("completed", "failed")
        if isinstance(count := found.get(name), int) and 0 <= count < 2**31
    }


def _errors(said: Mapping[str, Any], key: str) -> str:
    """What an endpoint says was wrong with a batch, the first of it."""
    errors = said.get("errors")
    data = errors.get("data") if isinstance(errors, dict) else errors
    told = []
    for each in data if isinstance(data, list) else ():
        if not isinstance(each, dict):
            continue
        line = each.get("line")
        where = f"line {line}: " if isinstance(line, int) else ""
        code = f" ({each['code']})" if each.get("code") else ""
        told.append(redacted(f"{where}{each.get('message') or 'no message'}{code}", key))
        if len(told) == _ERRORS_TOLD:
            told.append("…")
            break
    return "; ".join(dict.fromkeys(told))


def _collect(batch: Batch, log: BatchLog, folder: Path, endpoints: _Endpoints) -> Collected | None:
    """Collect one batch; ``None`` where it goes on."""
    if batch.state != "ended":
        freed = _look(batch, log, folder, endpoints)
        batch = log.batch(batch.number)
        if batch.state == "closed":
            return Collected(batch, free=freed)
    if batch.state != "ended":
        return None
    api = endpoints.of(batch)
    try:
        if not batch.output and batch.completed:
            raise _UnusableError(
                f"the endpoint says that {batch.completed} requests were answered, and names no file"
            )
        with ExitStack() as stack:
            streams = [
                stack.enter_context(_fetched(file, batch, folder, api))
                for file in (batch.output, batch.errors)
                if file
            ]
            intake = Intake(batch, log, api.key)
            for complete in (True, False):
                for stream in streams:
                    intake.read(stream, complete=complete)
    except InputError as error:
        endpoints.silence(batch, error)
        hint = f"collect again later, or give it up with: batch collect --forget {batch.name}"
        raise InputError(error.problem, hint=error.hint or hint) from None
    batch.path(folder).unlink(missing_ok=True)
    return intake.finish()


@contextmanager
def _fetched(file: str, batch: Batch, folder: Path, api: BatchApi) -> Iterator[IO[bytes]]:
    """A file of results, on the disk as long as it is read and without a name: a kill leaves nothing."""
    with TemporaryFile(dir=folder) as stream:
        api.download(file, stream)
        some = any(line is not None for line in results(stream))
        if not some and (stream.seek(0, os.SEEK_END) or (file == batch.output and batch.completed)):
            stream.seek(0)
            begins = redacted(stream.read(80).decode("utf-8", "replace"), api.key)
            raise _UnusableError(f"the file of results holds none; it begins '{begins}'")
        yield stream
