"""What a reader is: a benchmark's files in, one stream of translations out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import ClassVar

from challenge_sets.errors import InputError
from challenge_sets.records import Pair, Translation
from challenge_sets.registry import Registry
from challenge_sets.report import DataReport


@dataclass(frozen=True)
class ReadOptions:
    """Where the benchmark is and how to read it; each reader uses what its format needs.

    Languages are normalised tags. ``columns`` maps record fields to column names; ``hypotheses`` maps
    systems to files; ``reference`` names one of several references, or is a file for plain text.
    """

    input: Path | None = None
    source_lang: str | None = None
    target_lang: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    source_file: Path | None = None
    hypotheses: Mapping[str, Path] = field(default_factory=dict)
    reference_file: Path | None = None
    documents_file: Path | None = None
    reference: str | None = None

    def need_input(self, what: str) -> Path:
        """The input path, or an ``InputError`` that says what this format wants there."""
        if self.input is None:
            raise InputError(f"this format needs --input: {what}")
        if not self.input.exists():
            raise InputError("no such file or directory", path=self.input, hint=f"--input takes {what}")
        return self.input

    def need_languages(self) -> tuple[str, str]:
        """Source and target language, or an ``InputError`` where one is not given."""
        if self.source_lang is None or self.target_lang is None:
            raise InputError("the languages are not known", hint="give --lang-pair, e.g. --lang-pair en-de")
        return self.source_lang, self.target_lang


_FLAGS = {
    "source_file": "--src",
    "hypotheses": "--hyp",
    "reference_file": "--ref",
    "documents_file": "--docs",
}


class Reader(ABC):
    """One benchmark format. Constructing it looks at the options and the folder, not yet at the texts."""

    format: ClassVar[str]
    uses: ClassVar[frozenset[str]] = frozenset({"input", "source_lang", "target_lang"})
    """The options that mean something to this format; any other is refused rather than ignored."""
    ready_made: ClassVar[bool] = False
    """Whether the format brings its own pairs."""
    licence: str | None = None
    """Licence of the data where the format states it."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        for name in (option.name for option in fields(options)):
            if name not in self.uses and getattr(options, name):
                flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
                raise InputError(f"the format {self.format} has no use for {flag}", hint=f"leave {flag} out")

    @property
    @abstractmethod
    def files(self) -> tuple[Path, ...]:
        """The files read, in a fixed order, for the manifest's input hashes."""

    @abstractmethod
    def translations(self, report: DataReport) -> Iterator[Translation]:
        """Stream every translation of the wanted language pair; may be called more than once.

        Raises ``InputError`` with file and line for anything that is not right.
        """

    @property
    def reference_name(self) -> str | None:
        """The name of the reference, where the format names its references."""
        return None

    def systems_under_test(self) -> tuple[str, ...] | None:
        """Systems that are perturbed unless the user names others; ``None`` means all."""
        return None

    def pairs(self, report: DataReport) -> Iterator[Pair]:
        """Stream the pairs, where the perturbations are ready-made; other formats have none."""
        yield from ()


READERS: Registry[Reader] = Registry(
    "format",
    Reader,
    modules=(
        "challenge_sets.readers.text",
        "challenge_sets.readers.table",
        "challenge_sets.readers.mtme",
        "challenge_sets.readers.korean_context",
        "challenge_sets.readers.demetr",
    ),
)
"""Every reader by the name of its format."""


def checked(translations: Iterator[Translation], path: Path | None) -> Iterator[Translation]:
    """Pass translations through; refuse what would mix up items or documents.

    That is a second translation of an item by a system, an item with several sources or language pairs,
    and a document whose segments are not contiguous.
    """
    seen: set[tuple[str, str]] = set()
    segments: dict[str, int] = {}
    current: dict[str, str] = {}
    finished: set[tuple[str, str]] = set()
    for translation in translations:
        key = (translation.item, translation.system)
        if key in seen:
            raise InputError(f"item '{key[0]}' of system '{key[1]}' occurs twice", path=path)
        seen.add(key)
        segment = hash((translation.source, translation.source_lang, translation.target_lang))
        if segments.setdefault(translation.item, segment) != segment:
            raise InputError(
                f"item '{translation.item}' has another source or language pair than in an earlier row",
                path=path,
                hint="an item is one source segment in one language pair; give others another name",
            )
        system, doc = translation.system, translation.doc
        if current.get(system) != doc:
            if system in current:
                finished.add((system, current[system]))
            if (system, doc) in finished:
                raise InputError(
                    f"the segments of document '{doc}' are not contiguous (system '{system}')",
                    path=path,
                    hint="sort the input by document, or leave the document column out",
                )
            current[system] = doc
        yield translation
