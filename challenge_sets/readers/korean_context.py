"""The Korean multi-turn context benchmark: translations of its ablation joined with the turns before them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from challenge_sets.errors import InputError
from challenge_sets.files import locating, parse_json, read_jsonl, read_text
from challenge_sets.languages import normalise_language
from challenge_sets.readers.base import READERS, Reader, ReadOptions, checked
from challenge_sets.records import Translation, Turn
from challenge_sets.report import DataReport

_META = ("contextTurnCount", "speakerMode", "contextExpectation", "primaryPhenomenon", "secondaryPhenomena")
_UNDER_TEST = "-ablation-b"


@READERS.register("korean-context")
class KoreanContextReader(Reader):
    """``--input DIR [--target-lang en]``, DIR holding ``dataset/`` and ``ablation/``.

    Arms are the systems: ``…-ablation-a`` translated the sentence alone, ``…-ablation-b``, the one
    under test, with all earlier turns. There are no references.
    """

    format = "korean-context"
    licence = "CC-BY-4.0"

    def __init__(self, options: ReadOptions) -> None:
        super().__init__(options)
        root = options.need_input("the benchmark's folder (it has dataset/ and ablation/)")
        self._dataset = root / "dataset" / "runtime.json"
        self._outputs = root / "ablation" / "translations.jsonl"
        self._failures = root / "ablation" / "translation-failures.jsonl"

    @property
    def files(self) -> tuple[Path, ...]:
        """The dataset, the translations, and the cells that never got one."""
        return (self._dataset, self._outputs, self._failures)

    def systems_under_test(self) -> tuple[str, ...]:
        """The arm that saw the context."""
        arms = {str(row.get("participant_id")) for _, row in read_jsonl(self._outputs, DataReport())}
        return tuple(sorted(arm for arm in arms if arm.endswith(_UNDER_TEST)))

    def translations(self, report: DataReport) -> Iterator[Translation]:
        """One translation a row of ``translations.jsonl``; the item is ``sampleId/LANGUAGE``."""
        return checked(self._translations(report), self._outputs)

    def _translations(self, report: DataReport) -> Iterator[Translation]:
        samples = self._samples(report)
        missing = 0
        for line, row in read_jsonl(self._outputs, report):
            with locating(self._outputs, line):
                target_lang = normalise_language(row["target_language"])
                if self.options.target_lang not in (None, target_lang):
                    continue
                translation = self._translation(row, samples[row["source_id"]], target_lang, line, report)
            yield translation
        for _, row in read_jsonl(self._failures, DataReport()):
            missing += self.options.target_lang in (None, normalise_language(str(row.get("target_language"))))
        report.note("cell that was never translated", self._failures.name, times=missing)

    def _samples(self, report: DataReport) -> dict[str, dict[str, Any]]:
        samples = parse_json(read_text(self._dataset, report), path=self._dataset)
        with locating(self._dataset):
            return {sample["sampleId"]: sample for sample in samples}

    def _translation(
        self, row: dict[str, Any], sample: dict[str, Any], target_lang: str, line: int, report: DataReport
    ) -> Translation:
        def text(value: str) -> str:
            return report.text(value, path=self._outputs, line=line)

        if row["source"] != sample["currentSource"]["sourceText"]:
            raise InputError(
                "the source differs from the dataset's current turn", path=self._outputs, line=line
            )
        item = f"{row['source_id']}/{target_lang}"
        return Translation(
            item=item,
            doc=item,
            system=row["participant_id"],
            source=text(row["source"]),
            hypothesis=text(row["translation"]),
            source_lang=normalise_language(row["source_lang"]),
            target_lang=target_lang,
            context=tuple(
                Turn(turn["speakerRole"], text(turn["sourceText"]), turn["relativeTimeLabel"])
                for turn in sample["contextTurns"]
            ),
            domain="conversation",
            meta={"sampleId": row["source_id"]} | {key: sample[key] for key in _META},
        )
