"""Reading and writing files: lines end at ``\\n`` only, and a file is written whole or not at all."""

from __future__ import annotations

import codecs
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from challenge_sets.errors import InputError
from challenge_sets.report import DataReport


def read_lines(path: str | Path, report: DataReport) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, streamed, each in NFC.

    Only ``\\n`` ends a line; a carriage return before it and a byte-order mark are dropped and
    counted; every other separator stays in the text. A last line without ``\\n`` is a line.

    Raises ``InputError`` where the file is missing or not UTF-8.
    """
    path = Path(path)
    with _open_binary(path) as stream:
        for number, raw in enumerate(stream, 1):
            line = raw
            if number == 1 and line.startswith(codecs.BOM_UTF8):
                line = line[len(codecs.BOM_UTF8) :]
                report.note("byte-order mark dropped", path.name)
            if line.endswith(b"\n"):
                line = line[:-1]
            if line.endswith(b"\r"):
                line = line[:-1]
                report.note("carriage return before a line end dropped", f"{path.name}:{number}")
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"not UTF-8 (byte {error.start + 1} of the line)",
                    path=path,
                    line=number,
                    hint="convert the file to UTF-8 first, e.g. with iconv",
                ) from error
            yield report.text(text, path=path, line=number)


def read_text(path: str | Path, report: DataReport) -> str:
    """Return a whole UTF-8 file, byte-order mark dropped, not normalised (for JSON and CSV parsers)."""
    path = Path(path)
    with _open_binary(path) as stream:
        raw = stream.read()
    if raw.startswith(codecs.BOM_UTF8):
        report.note("byte-order mark dropped", path.name)
        raw = raw[len(codecs.BOM_UTF8) :]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            "not UTF-8", path=path, line=line, hint="convert the file to UTF-8 first, e.g. with iconv"
        ) from error


def read_jsonl(path: str | Path, report: DataReport) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number, object)`` for each non-blank line of a JSONL file."""
    for number, line in enumerate(read_lines(path, report), 1):
        if not line.strip():
            report.note("blank line in a JSONL file skipped", f"{Path(path).name}:{number}")
            continue
        value = parse_json(line, path=path, line=number)
        if not isinstance(value, dict):
            raise InputError("a line of this file must be a JSON object", path=path, line=number)
        yield number, value


def parse_json(text: str, *, path: str | Path, line: int | None = None) -> Any:
    """Parse strict JSON (no NaN, no Infinity); errors name the file and the line."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise InputError("JSON nested too deeply", path=path, line=line) from error
    except ValueError as error:
        at = line if line is not None else getattr(error, "lineno", None)
        problem = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(f"broken JSON: {problem}", path=path, line=at) from error


@contextmanager
def locating(path: str | Path, line: int | None = None, *, element: int | None = None) -> Iterator[None]:
    """Turn what goes wrong while a record is made from outside data into an ``InputError`` with its place.

    ``line`` and ``element`` (of a JSON list) count from 1.
    """
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        if isinstance(error, InputError) and error.path is not None:
            raise
        said = f"no field {error}" if isinstance(error, KeyError) else str(error)
        place = "" if element is None else f"element {element}: "
        raise InputError(f"{place}not a valid record: {said}", path=path, line=line) from error


def dump_json(value: Any, *, indent: int | None = None) -> str:
    """One canonical JSON spelling: UTF-8 text unescaped, keys in the order given, no NaN."""
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)


def sha256_file(path: str | Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with _open_binary(Path(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


@contextmanager
def atomic_file(path: str | Path) -> Iterator[IO[str]]:
    """Open a temporary text file beside ``path`` that takes its place only when the block succeeds."""
    path = Path(path)
    make_directory(path.parent)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: str | Path, value: Any) -> None:
    """Write indented JSON atomically."""
    with atomic_file(path) as stream:
        stream.write(dump_json(value, indent=1) + "\n")


def make_directory(path: str | Path) -> Path:
    """Create a directory and its parents; a file in the way is an ``InputError``."""
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError("a file stands where a directory is needed", path=path) from error
    except OSError as error:
        raise InputError(f"cannot create the directory ({error.strerror})", path=path) from error
    return path


def _open_binary(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except IsADirectoryError as error:
        raise InputError("is a directory, a file is needed", path=path) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
