"""Parallel plain text: one segment a line in a source file, one file a system, and optional references."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from challenge_sets.errors import InputError
from challenge_sets.files import read_lines
from challenge_sets.readers.base import READERS, Reader, ReadOptions, checked
from challenge_sets.records import Translation
from challenge_sets.report import DataReport


def parallel_lines(paths: list[Path], report: DataReport) -> Iterator[tuple[str, ...]]:
    """Yield lines of several files side by side; unequal lengths are refused, naming every count."""
    for row in zip_longest(*(read_lines(path, report) for path in paths)):
        if None in row:
            counts = [f"{path}: {sum(1 for _ in read_lines(path, DataReport()))} lines" for path in paths]
            raise InputError("the files have different numbers of lines", hint="\n  ".join(counts))
        yield row


def split_document_line(line: str, path: Path, number: int) -> tuple[str | None, str]:
    """Split a document line, ``document`` or ``domain TAB document``, into domain (or none) and document."""
    parts = line.split("\t")
    if len(parts) > 2 or not parts[-1].strip():
        raise InputError("a document line is DOCUMENT or DOMAIN TAB DOCUMENT", path=path, line=number)
    return (parts[0] if len(parts) == 2 else None), parts[-1]


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
        self.source_lang, self.target_lang = options.need_languages()
        self._source = options.source_file

    @property
    def files(self) -> tuple[Path, ...]:
        """Source, hypotheses, reference, documents."""
        options = self.options
        optional = (options.reference_file, options.documents_file)
        return (self._source, *options.hypotheses.values(), *(path for path in optional if path))

    def translations(self, report: DataReport) -> Iterator[Translation]:
        """One translation a line and system; without ``--docs`` every segment is a document of its own."""
        return checked(self._translations(report), self._source)

    def _translations(self, report: DataReport) -> Iterator[Translation]:
        options = self.options
        systems = list(options.hypotheses)
        previous, position = None, 0
        for number, row in enumerate(parallel_lines(list(self.files), report), 1):
            item = f"{self.source_lang}-{self.target_lang}/{number}"
            rest = list(row[1 + len(systems) :])
            reference = rest.pop(0) if options.reference_file else None
            domain, doc = None, item
            if options.documents_file:
                domain, doc = split_document_line(rest.pop(0), options.documents_file, number)
            position = position + 1 if doc == previous else 0
            previous = doc
            for system, hypothesis in zip(systems, row[1:], strict=False):
                yield Translation(
                    item=item,
                    system=system,
                    source=row[0],
                    hypothesis=hypothesis,
                    reference=reference,
                    source_lang=self.source_lang,
                    target_lang=self.target_lang,
                    doc=doc,
                    position=position,
                    domain=domain,
                )
