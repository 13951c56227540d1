"""DEMETR (Karpinska et al. 2022): ready-made minimal pairs into English, one JSON file a perturbation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from challenge_sets.edits import diff
from challenge_sets.errors import InputError
from challenge_sets.files import locating, parse_json, read_text
from challenge_sets.languages import normalise_language
from challenge_sets.readers.base import READERS, Reader, ReadOptions, checked
from challenge_sets.records import Generator, Pair, Translation
from challenge_sets.report import DataReport

SYSTEM = "mt"
# The two base perturbations are no edits: one replaces everything, the other is not worse.
_CONTROLS = {"base_id33_shuffle_trans": "critical", "base_id35_reference": "none"}
_LANGUAGES = {"chinese_simple": "zh-Hans"}


@READERS.register("demetr")
class DemetrReader(Reader):
    """``--input DIR`` (or one file). Items are joined on ``id``; pairs are the rows with ``pert_check``."""

    format = "demetr"
    ready_made = True
    licence = "MIT"

    def __init__(self, options: ReadOptions) -> None:
        super().__init__(options)
        path = options.need_input("the folder of DEMETR's JSON files, or one of them")
        self._files = tuple(sorted(path.glob("*.json"))) if path.is_dir() else (path,)
        if not self._files:
            raise InputError("no JSON file", path=path)
        if options.target_lang not in (None, "en"):
            raise InputError("DEMETR translates into English only", hint="leave the target language out")

    @property
    def files(self) -> tuple[Path, ...]:
        """The JSON files by name."""
        return self._files

    def translations(self, report: DataReport) -> Iterator[Translation]:
        """The undamaged translations, each id once."""
        return checked((translation for translation, _ in self._rows(report) if translation), None)

    def pairs(self, report: DataReport) -> Iterator[Pair]:
        """One pair a usable row, the category being the perturbation's own name."""
        for _, pair in self._rows(report):
            if pair:
                yield pair

    def _rows(self, report: DataReport) -> Iterator[tuple[Translation | None, Pair | None]]:
        """The translation where an id is new, and the pair where the row is usable."""
        known: dict[int, Translation] = {}
        for path in self._files:
            rows = parse_json(read_text(path, report), path=path)
            if not isinstance(rows, list):
                raise InputError("not a JSON list of perturbations", path=path)
            for number, row in enumerate(rows, 1):
                with locating(path, element=number):
                    translation = self._translation(row, path, report)
                    first = known.setdefault(row["id"], translation)
                    if (first.hypothesis, first.reference) != (translation.hypothesis, translation.reference):
                        raise ValueError(f"item {row['id']} has another translation in an earlier file")
                    if first.source != translation.source:
                        place = f"{path.name}: id {row['id']}"
                        report.note("source differs between files, the first is kept", place)
                    pair = self._pair(row, first, path, report)
                if self.options.source_lang in (None, translation.source_lang):
                    yield (translation if first is translation else None), pair

    def _translation(self, row: dict[str, Any], path: Path, report: DataReport) -> Translation:
        item = f"demetr/{row['id']}"
        return Translation(
            item=item,
            doc=item,
            system=SYSTEM,
            source=report.text(row["src_sent"], path=path),
            hypothesis=report.text(row["mt_sent"], path=path),
            reference=report.text(row["eng_sent"], path=path),
            source_lang=normalise_language(_LANGUAGES.get(row["lang_tag"], row["lang_tag"])),
            target_lang="en",
            domain=row.get("data_source"),
            meta={"id": row["id"]},
        )

    def _pair(self, row: dict[str, Any], of: Translation, path: Path, report: DataReport) -> Pair | None:
        name = row["pert_name"]
        if not row["pert_check"]:
            report.note("row without pert_check left out", path.name)
            return None
        perturbed = report.text(row["pert_sent"], path=path)
        control = name in _CONTROLS
        if perturbed == of.hypothesis and not control:
            report.note("perturbation that changes nothing left out", f"{path.name}: id {row['id']}")
            return None
        return Pair(
            pair=f"{name}-{row['id']}",
            item=of.item,
            system=of.system,
            category=name,
            kind="control" if control else "error",
            original=of.hypothesis,
            perturbed=perturbed,
            edits=diff(of.hypothesis, perturbed),
            severity=_CONTROLS.get(name, row["severity"]),
            generator=Generator("DEMETR", str(row.get("pert_id")), "given"),
        )
