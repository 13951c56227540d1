"""Directories laid out as in mt-metrics-eval: sources/, documents/, references/, system-outputs/."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from challenge_sets.errors import InputError
from challenge_sets.languages import split_pair
from challenge_sets.readers.aligned import AlignedFiles
from challenge_sets.readers.base import READERS, Reader, ReadOptions
from challenge_sets.records import Translation
from challenge_sets.report import DataReport


@READERS.register("mtme")
class MtmeReader(Reader):
    """``--input DIR [--lang-pair en-de] [--reference refA]``.

    Human references that also stand among the system outputs are systems too, but not under test.
    """

    format = "mtme"
    uses = Reader.uses | {"reference"}

    def __init__(self, options: ReadOptions) -> None:
        super().__init__(options)
        self.root = options.need_input("an mt-metrics-eval directory (it has sources/, system-outputs/ …)")
        self.pair = self._find_pair()
        self.source_lang, self.target_lang = split_pair(self.pair)
        self.references = self._named(self.root / "references", f"{self.pair}.")
        self.systems = self._named(self.root / "system-outputs" / self.pair, "")
        if not self.systems:
            raise InputError("no system output", path=self.root / "system-outputs" / self.pair)
        self.reference = self._choose_reference()
        self._corpus = AlignedFiles(
            pair=self.pair,
            source_lang=self.source_lang,
            target_lang=self.target_lang,
            source=self.root / "sources" / f"{self.pair}.txt",
            hypotheses=self.systems,
            reference=self.references[self.reference] if self.reference else None,
            documents=self.root / "documents" / f"{self.pair}.docs",
        )

    def _find_pair(self) -> str:
        """The pair as the files spell it, whatever spelling the user chose."""
        found = sorted(path.stem for path in (self.root / "sources").glob("*-*.txt"))
        wanted = (self.options.source_lang, self.options.target_lang)
        fitting = [
            pair
            for pair in found
            if all(want in (None, have) for want, have in zip(wanted, split_pair(pair), strict=True))
        ]
        if len(fitting) != 1:
            raise InputError(
                "no such language pair" if not fitting else "several language pairs fit",
                path=self.root / "sources",
                hint=f"give --lang-pair, one of: {', '.join(found) or 'none found'}",
            )
        return fitting[0]

    @staticmethod
    def _named(folder: Path, prefix: str) -> dict[str, Path]:
        return {path.name[len(prefix) : -len(".txt")]: path for path in sorted(folder.glob(f"{prefix}*.txt"))}

    def _choose_reference(self) -> str | None:
        wanted = self.options.reference
        if wanted is not None and wanted not in self.references:
            raise InputError(
                f"no reference '{wanted}'",
                path=self.root / "references",
                hint=f"known: {', '.join(self.references) or 'none'}",
            )
        return wanted or ("refA" if "refA" in self.references else next(iter(self.references), None))

    @property
    def files(self) -> tuple[Path, ...]:
        """Sources, documents, the chosen reference, system outputs by name."""
        return self._corpus.files

    @property
    def reference_name(self) -> str | None:
        """The reference in use, e.g. ``refA``."""
        return self.reference

    def systems_under_test(self) -> tuple[str, ...]:
        """All systems but the references."""
        return tuple(name for name in self.systems if name not in self.references)

    def translations(self, report: DataReport) -> Iterator[Translation]:
        """Segment by segment, systems by name; the item is ``PAIR/LINE`` with 1-based lines."""
        return self._corpus.translations(report)
