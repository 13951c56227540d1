"""Files that are aligned line by line: sources, hypotheses of several systems, a reference, documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from challenge_sets.errors import InputError
from challenge_sets.files import read_lines
from challenge_sets.readers.base import checked
from challenge_sets.records import Translation
from challenge_sets.report import DataReport


@dataclass(frozen=True)
class AlignedFiles:
    """One corpus of one language pair, a segment a line.

    ``pair`` begins the name of every item, ``PAIR/LINE`` with 1-based lines. A line of ``documents`` is
    ``DOCUMENT`` or ``DOMAIN TAB DOCUMENT``; without that file every segment is a document of its own.
    """

    pair: str
    source_lang: str
    target_lang: str
    source: Path
    hypotheses: Mapping[str, Path]
    reference: Path | None = None
    documents: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Source, documents, reference, then the systems' files."""
        optional = (path for path in (self.documents, self.reference) if path)
        return (self.source, *optional, *self.hypotheses.values())

    def translations(self, report: DataReport) -> Iterator[Translation]:
        """Segment by segment, systems in the order given.

        Raises ``InputError`` where the files differ in length or a document line is none.
        """
        return checked(self._translations(report), self.source)

    def _translations(self, report: DataReport) -> Iterator[Translation]:
        previous, position = None, 0
        for number, (source, *rest) in enumerate(_side_by_side(self.files, report), 1):
            item = f"{self.pair}/{number}"
            domain, doc = (
                domain_and_document(rest.pop(0), self.documents, number) if self.documents else (None, item)
            )
            reference = rest.pop(0) if self.reference else None
            position = position + 1 if doc == previous else 0
            previous = doc
            for system, hypothesis in zip(self.hypotheses, rest, strict=True):
                yield Translation(
                    item=item,
                    system=system,
                    source=source,
                    hypothesis=hypothesis,
                    reference=reference,
                    source_lang=self.source_lang,
                    target_lang=self.target_lang,
                    doc=doc,
                    position=position,
                    domain=domain,
                )


def _side_by_side(paths: tuple[Path, ...], report: DataReport) -> Iterator[tuple[str, ...]]:
    """Yield lines of several files side by side; unequal lengths are refused, naming every count."""
    for row in zip_longest(*(read_lines(path, report) for path in paths)):
        if None in row:
            counts = [f"{path}: {sum(1 for _ in read_lines(path, DataReport()))} lines" for path in paths]
            raise InputError("the files have different numbers of lines", hint="\n  ".join(counts))
        yield row


def domain_and_document(line: str, path: Path, number: int) -> tuple[str | None, str]:
    """What line ``number`` of a document file says: the domain (``None`` where not given), the document.

    Raises ``InputError`` for a line that is neither ``DOCUMENT`` nor ``DOMAIN TAB DOCUMENT``.
    """
    parts = line.split("\t")
    if len(parts) > 2 or not parts[-1].strip():
        raise InputError("a document line is DOCUMENT or DOMAIN TAB DOCUMENT", path=path, line=number)
    return (parts[0] if len(parts) == 2 else None), parts[-1]
