"""Parallel plain text: one segment a line in a source file, one file a system, and optional references."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from challenge_sets.errors import InputError
from challenge_sets.readers.aligned import AlignedFiles
from challenge_sets.readers.base import READERS, Reader, ReadOptions
from challenge_sets.records import Translation
from challenge_sets.report import DataReport


@READERS.register("text")
class TextReader(Reader):
    """``--src FILE --hyp SYSTEM=FILE … [--ref FILE] [--docs FILE]``, as for sacrebleu."""

    format = "text"
    uses = frozenset(
        {"source_lang", "target_lang", "source_file", "hypotheses", "reference_file", "documents_file"}
    )

    def __init__(self, options: ReadOptions) -> None:
        super().__init__(options)
        if options.source_file is None or not options.hypotheses:
            raise InputError("this format needs --src FILE and at least one --hyp SYSTEM=FILE")
        source_lang, target_lang = options.need_languages()
        self._corpus = AlignedFiles(
            pair=f"{source_lang}-{target_lang}",
            source_lang=source_lang,
            target_lang=target_lang,
            source=options.source_file,
            hypotheses=options.hypotheses,
            reference=options.reference_file,
            documents=options.documents_file,
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """The files named by the options."""
        return self._corpus.files

    def translations(self, report: DataReport) -> Iterator[Translation]:
        """One translation a line and system."""
        return self._corpus.translations(report)
