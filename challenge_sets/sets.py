"""Set directories: ``set.json`` (what it is and how it was made) beside the JSONL files it vouches for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from challenge_sets.errors import InputError
from challenge_sets.files import (
    atomic_file,
    dump_json,
    locating,
    parse_json,
    read_jsonl,
    read_text,
    sha256_file,
)
from challenge_sets.records import Pair, Translation
from challenge_sets.report import DataReport

MANIFEST = "set.json"
TRANSLATIONS = "translations.jsonl"
PAIRS = "pairs.jsonl"
FORMAT = "mt-blindspots/set"
FORMAT_VERSION = 1

R = TypeVar("R")


class SetWriter:
    """Streams records into a set directory; the directory becomes valid only when the block succeeds.

    >>> with SetWriter(Path("out/ko-en"), {"name": "ko-en"}) as writer:
    ...     writer.add(translation)
    ...     writer.add(pair)

    ``about`` goes into the manifest and may be filled until the block ends. Nothing in it may depend
    on the time, the machine or the folder: the same input, recipe and seed give the same bytes.
    An earlier set in the same place is replaced; other files there are left alone.
    """

    def __init__(self, out: str | Path, about: Mapping[str, Any]) -> None:
        self.out = Path(out)
        self.about: dict[str, Any] = dict(about)
        self.counts: Counter[str] = Counter()
        self._per_category: Counter[str] = Counter()
        self._hashes = {name: sha256() for name in (TRANSLATIONS, PAIRS)}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._is_new = not self.out.exists()
        # The manifest is entered first, so that it takes its place last: whatever happens in between, files
        # that do not belong to the manifest beside them do not match its hashes.
        self._streams = {
            name: self._stack.enter_context(atomic_file(self.out / name))
            for name in (MANIFEST, TRANSLATIONS, PAIRS)
        }
        return self

    def add(self, record: Translation | Pair) -> None:
        """Append one record to the file of its type."""
        self.add_line(dump_json(record.to_json()), record.category if isinstance(record, Pair) else None)

    def add_line(self, line: str, category: str | None) -> None:
        """Append a record already spelled as JSON (by a worker): a pair's ``category``, or ``None``."""
        name = TRANSLATIONS if category is None else PAIRS
        self._streams[name].write(line + "\n")
        self._hashes[name].update(line.encode() + b"\n")
        self.counts[name] += 1
        if category is not None:
            self._per_category[category] += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        done = False
        try:
            if kind is None:
                with self._stack:
                    self._streams[MANIFEST].write(dump_json(self._manifest(), indent=1) + "\n")
                done = True
            else:
                self._stack.__exit__(kind, error, trace)
        finally:
            if self._is_new and not done:
                with suppress(OSError):  # not empty: somebody else put something there meanwhile
                    self.out.rmdir()

    def _manifest(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **self.about,
            "counts": {
                "translations": self.counts[TRANSLATIONS],
                "pairs": self.counts[PAIRS],
                "pairs_per_category": dict(sorted(self._per_category.items())),
            },
            "files": {name: {"sha256": found.hexdigest()} for name, found in self._hashes.items()},
        }


class ChallengeSet:
    """A set directory opened for reading, its files checked against the manifest's hashes.

    Raises ``InputError`` where the directory is no set, is of a newer format, or was altered.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        path = self.directory / MANIFEST
        if not path.is_file():
            raise InputError(
                f"not a set directory: {MANIFEST} is missing",
                path=self.directory,
                hint="make one with: python -m perturb build",
            )
        self.fingerprint = sha256_file(path)
        """Hex SHA-256 of the manifest: another one whenever a record of the set is another one."""
        manifest = parse_json(read_text(path, DataReport()), path=path)
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise InputError("not the manifest of a set", path=path)
        if manifest.get("format_version") != FORMAT_VERSION:
            raise InputError(
                f"format version {manifest.get('format_version')}, this release reads {FORMAT_VERSION}",
                path=path,
            )
        self.manifest: dict[str, Any] = manifest
        self._verify(path)

    def _verify(self, path: Path) -> None:
        files = self.manifest.get("files")
        if not isinstance(files, dict) or set(files) != {TRANSLATIONS, PAIRS}:
            raise InputError(f"'files' must name {TRANSLATIONS} and {PAIRS}", path=path)
        for name, entry in files.items():
            if not isinstance(entry, dict) or sha256_file(self.directory / name) != entry.get("sha256"):
                raise InputError(
                    "does not match its hash in the manifest: the file was altered or the build was cut off",
                    path=self.directory / name,
                    hint="build the set again",
                )

    @property
    def name(self) -> str:
        """The set's name, or that of its directory."""
        return str(self.manifest.get("name") or self.directory.name)

    def check_unchanged(self) -> None:
        """Raise ``InputError`` where the directory was built again since it was opened."""
        if sha256_file(self.directory / MANIFEST) != self.fingerprint:
            raise InputError(
                "the set was changed while it was being read",
                path=self.directory,
                hint="run the command again",
            )

    def translations(self) -> Iterator[Translation]:
        """Stream the translations, in file order."""
        return self._records(TRANSLATIONS, Translation.from_json)

    def pairs(self) -> Iterator[Pair]:
        """Stream the pairs, in file order."""
        return self._records(PAIRS, Pair.from_json)

    def _records(self, name: str, make: Callable[[Mapping[str, Any]], R]) -> Iterator[R]:
        path = self.directory / name
        for line, value in read_jsonl(path, DataReport()):
            with locating(path, line):
                record = make(value)
            yield record
