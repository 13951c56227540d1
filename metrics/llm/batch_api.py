"""The batch protocol of an OpenAI-compatible endpoint: files, batches, and one retry loop for all of it."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, Self

from challenge_sets import InputError, MissingExtraError
from metrics.llm.exchanges import Outcome, read_exchange, redacted
from metrics.llm.options import LlmOptions
from metrics.llm.waits import pause

REQUESTS_TO: Literal["/v1/chat/completions"] = "/v1/chat/completions"
"""What the lines of a batch are requests to; the protocol names it so wherever the endpoint lies."""

_PAGE = 100
# Seconds that the clocks of endpoint and user may differ.
_CLOCKS_APART = 86_400.0
# Endpoints' ids become part of addresses: whatever could make another address of them is none.
_ID = re.compile(r"(?!\.+$)[!-~]{1,200}")
_NO_ID = frozenset("/\\?#%")
_TOO_LARGE = re.compile(
    r"(file|batch|body|payload|entity|upload|requests|lines)\b.{0,60}"
    r"\b(larger|too (large|big|many|long)|exceed\w*|more than|at most|maximum|limit)\b"
    r"|too (large|big|many)\b.{0,60}\b(file|batch|body|payload|entity|upload|requests|lines)\b",
    re.I,
)

Send = Callable[[], Any]


class Refused(InputError):
    """The endpoint understood and will not do it: nothing has happened there."""

    def __init__(self, reason: str, status: int, endpoint: str) -> None:
        super().__init__(f"{endpoint}: {reason}")
        self.reason = reason
        self.absent = status in (404, 405)
        """It knows no such thing, or no such address."""
        # Tokens that wait at the endpoint are another limit, which smaller files do not keep.
        within = _TOO_LARGE.search(reason) is not None and "token" not in reason.lower()
        self.too_large = status == 413 or (status in (400, 422) and within)


class Unanswered(InputError):
    """No clear answer after all attempts: it may have happened there or not."""


class BatchApi:
    """One endpoint with the key from the environment; a context manager.

    Every method raises ``Refused``, ``Unanswered``, or another ``InputError`` where the key, the credit or
    the permission is wanting. ``MissingExtraError`` without the extra ``judge``.
    """

    def __init__(self, options: LlmOptions) -> None:
        self._options = options
        self.key = options.key()
        try:
            import openai
        except ImportError:
            raise MissingExtraError("asking a large language model", "judge") from None
        self._http = openai.OpenAI(
            api_key=self.key, base_url=options.endpoint, max_retries=0, timeout=options.timeout
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._http.close()

    def check(self) -> None:
        """See that the key is good and that batches can be listed here, before anything is prepared."""
        with self._needing_batches():
            self._ask(lambda: self._http.batches.with_raw_response.list(limit=1))

    def upload(self, path: Path) -> str:
        """Send a file of requests; gives its id. It is read while it is sent, never held whole."""

        def send() -> Any:
            with path.open("rb") as stream:
                return self._http.files.with_raw_response.create(file=(path.name, stream), purpose="batch")

        with self._needing_batches():
            found = sound_id(self._ask(send).get("id"))
        if not found:
            raise Unanswered(f"{self._options.endpoint} gave no usable id of the file")
        return found

    def create(self, file: str, name: str) -> Mapping[str, Any]:
        """Make a batch of an uploaded file.

        Where an attempt got no clear answer, the batch is looked for by its name before the next one; of two
        that were made in the end one is stopped. ``Unanswered`` where there may be one nevertheless.
        """
        began, doubts = time.time(), 0

        def send() -> Any:
            return self._http.batches.with_raw_response.create(
                input_file_id=file,
                endpoint=REQUESTS_TO,
                completion_window="24h",
                metadata={"name": name},
            )

        def look() -> Mapping[str, Any] | None:
            nonlocal doubts
            doubts += 1
            return next(self.named(name, began), None)

        try:
            with self._needing_batches():
                made = self._ask(send, instead=look)
        except InputError as error:
            if doubts:
                raise Unanswered(error.problem) from None
            raise
        if doubts:
            with contextlib.suppress(InputError):
                for other in self.named(name, began):
                    if other.get("id") != made.get("id"):
                        self.cancel(sound_id(other.get("id")))
        return made

    def named(self, name: str, since: float) -> Iterator[Mapping[str, Any]]:
        """The batches that bear our name, of those made after ``since`` (seconds since 1970)."""
        after = ""
        while True:
            page = self._ask(partial(self._list, after))
            data = page.get("data")
            if not isinstance(data, list):
                raise Unanswered(f"{self._options.endpoint} gave no list of batches")
            shown = [each for each in data if isinstance(each, dict)]
            for each in shown:
                metadata = each.get("metadata")
                if isinstance(metadata, dict) and metadata.get("name") == name:
                    yield each
            # The newest come first.
            oldest = shown[-1].get("created_at") if shown else None
            past = isinstance(oldest, int | float) and oldest < since - _CLOCKS_APART
            previous, after = after, str(shown[-1].get("id") or "") if shown else ""
            if page.get("has_more") is not True or past or not after or after == previous:
                return

    def _list(self, after: str) -> Any:
        place = {"after": after} if after else {}
        return self._http.batches.with_raw_response.list(limit=_PAGE, extra_query=place)

    def batch(self, remote: str) -> Mapping[str, Any]:
        """What the endpoint says of a batch."""
        return self._ask(lambda: self._http.batches.with_raw_response.retrieve(remote))

    def cancel(self, remote: str) -> None:
        """Stop a batch, where that is still possible."""
        with contextlib.suppress(InputError):
            self._ask(lambda: self._http.batches.with_raw_response.cancel(remote))

    def delete(self, file: str) -> None:
        """Remove an uploaded file that nothing will be made of, where that is possible."""
        with contextlib.suppress(InputError):
            self._ask(lambda: self._http.files.with_raw_response.delete(file))

    def download(self, file: str, stream: IO[bytes]) -> None:
        """Fetch a file of results into an empty file here; a few kilobytes are held at a time."""

        def send() -> Outcome | None:
            with self._http.files.with_streaming_response.content(file) as response:
                pieces = response.iter_bytes()
                stream.seek(0)
                stream.truncate()
                while True:
                    try:
                        piece = next(pieces, None)
                    except Exception as error:  # whatever the transport in use raises
                        return Outcome(reason=f"the file broke off: {self._cause(error)}")
                    if piece is None:
                        return None
                    stream.write(piece)

        self._try(send, None)

    @contextlib.contextmanager
    def _needing_batches(self) -> Iterator[None]:
        try:
            yield
        except Refused as refused:
            if not refused.absent:
                raise
            raise InputError(
                f"{self._options.endpoint} has no batches: {refused.reason}",
                hint="ask call by call instead; or is this base URL not the API's? It mostly ends in /v1",
            ) from None

    def _ask(self, send: Send, instead: Callable[[], Any] | None = None) -> Mapping[str, Any]:
        def exchange() -> Outcome | dict[str, Any]:
            response = send().http_response
            return self._read(response)

        answer: Mapping[str, Any] = self._try(exchange, instead)
        return answer

    def _try(self, send: Callable[[], Any], instead: Callable[[], Any] | None) -> Any:
        """Attempt until there is an answer, whatever is no ``Outcome``, or ``instead`` has found one."""
        import openai

        attempts = self._options.attempts
        for attempt in range(1, attempts + 1):
            status = 200
            try:
                answer = send()
            except openai.APIStatusError as error:
                status = error.response.status_code
                answer = self._read(error.response)
            except openai.APITimeoutError:
                answer = Outcome(reason=f"no answer within {self._options.timeout:g} seconds")
            except openai.APIConnectionError as error:
                answer = Outcome(reason=f"the connection failed: {self._cause(error)}")
            if not isinstance(answer, Outcome):
                return answer
            if answer.problem is not None:
                if status in (404, 405):
                    # What is unknown here is a file or a batch, not an address for single calls.
                    said = answer.problem.problem.partition("): ")[2]
                    raise Refused(f"{said} (status {status})", status, self._options.endpoint)
                raise answer.problem
            if answer.reply is not None:
                raise Refused(answer.reply.reason, status, self._options.endpoint)
            if attempt < attempts or instead is not None:
                time.sleep(pause(attempt, answer.wait))
            found = None if instead is None else instead()
            if found is not None:
                return found
        tried = "" if attempts == 1 else f" (tried {attempts} times)"
        raise Unanswered(f"{self._options.endpoint}: {answer.reason}{tried}")

    def _read(self, response: Any) -> Outcome | dict[str, Any]:
        """The JSON object of a response that is well, or what is wrong with it."""
        headers = {name.lower(): value for name, value in response.headers.items()}
        try:
            text = response.content.decode("utf-8", "replace")
        except Exception as error:  # a body that cannot be unpacked, or was never read
            return Outcome(reason=f"the response cannot be read: {self._cause(error)}")
        status = response.status_code
        if 200 <= status < 300:
            status = 200
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(text)
                if isinstance(value, dict) and not value.get("error"):
                    return value
        return read_exchange(status, headers, text, self._options, self.key)

    def _cause(self, error: BaseException) -> str:
        inner = error.__cause__ or error
        return redacted(f"{type(inner).__name__}: {inner}", self.key)


def sound_id(value: Any) -> str:
    """An id as an endpoint gave it; empty where it is none."""
    sound = isinstance(value, str) and _ID.fullmatch(value) is not None and not _NO_ID & set(value)
    return value if sound else ""
