"""Annotations made by hand, and the published campaigns read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from challenge_sets import DataReport
from challenge_sets.annotations import Annotation, ErrorSpan
from challenge_sets.esa import Campaign, Sources, read_annotators, read_campaign

Make = Callable[..., Annotation]

EN_DE = {
    "ESA-1": "240315rc5ESA.scores.csv",
    "ESA-2": "240520rc6ESA.scores.csv",
    "MQM-1": "240315rc5MQM.scores.csv",
}


def make(line: int = 0, **changes: Any) -> Annotation:
    """A real annotation; ``errors`` is a shorthand for that many minor errors of one character."""
    errors = changes.pop("errors", 0)
    plain: dict[str, Any] = {
        "campaign": "c",
        "login": "l1",
        "system": "A",
        "doc": "d",
        "line": line,
        "kind": "real",
        "score": 80.0,
        "spans": tuple(ErrorSpan(place, place + 1, "minor") for place in range(errors)),
        "start_time": float(line),
        "end_time": float(line),
        "item": line,
        "document_id": "d",
        "text": "0123456789",
    }
    plain |= changes
    return Annotation(**({"annotator": plain["login"]} | plain))


@pytest.fixture
def annotation() -> Make:
    return make


@pytest.fixture(scope="session")
def campaigns(data: Path) -> Mapping[str, Campaign]:
    """ESA-1, ESA-2, MQM-1 (English-German) and WMT24 (English-Japanese)."""
    report = DataReport()
    folder = data / "esa_wmt23_ende"
    german = Sources(
        batches=folder / "batches_wmt23_en-de_esa.json",
        outputs=data / "wmt23",
        annotators=read_annotators(folder / "Annotators_mapping.csv", report),
    )
    found = {name: read_campaign(folder / file, name, german, report) for name, file in EN_DE.items()}
    folder = data / "wmt24_en-ja"
    japanese = Sources(
        segments=folder / "segments.tsv",
        outputs=folder,
        annotators=read_annotators(folder / "annotators.tsv", report),
    )
    wave = read_campaign(folder / "esa_generalMT2024_wave3.en-ja.csv", "WMT24", japanese, report)
    return found | {"WMT24": wave}
