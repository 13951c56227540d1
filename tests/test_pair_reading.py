"""The reading of pairs in docs/ is complete, summed up rightly, and speaks of the rules as they are."""

import csv
import importlib.util
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


def load() -> ModuleType:
    path = ROOT / "benchmarks" / "pair_reading.py"
    spec = importlib.util.spec_from_file_location("pair_reading", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


READING = load()


def rows() -> dict[str, list[dict[str, str]]]:
    by_category: dict[str, list[dict[str, str]]] = defaultdict(list)
    with READING.READING.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            by_category[row["category"]].append(row)
    return by_category


def test_every_english_category_was_read_and_is_clean_enough() -> None:
    read = rows()
    assert set(read) == set(READING.english_categories())
    for category, verdicts in read.items():
        assert len({row["pair"] for row in verdicts}) == len(verdicts) == READING.PER_CATEGORY
        clean = sum(row["verdict_1"] == row["verdict_2"] == "clean" for row in verdicts)
        assert clean / len(verdicts) >= READING.ENOUGH, category
        for row in verdicts:
            for reader in "12":
                assert row[f"verdict_{reader}"] == "clean" or row[f"reason_{reader}"]


def test_the_summary_is_that_of_the_verdicts() -> None:
    assert READING.SUMMARY.read_text(encoding="utf-8") == READING.summary(READING.READING)


@pytest.mark.data
def test_the_reading_speaks_of_the_rules_as_they_are(data: Path) -> None:
    """A changed rule makes other texts: where too few of those read are left, it must be read again."""
    made = {
        pair.pair: READING.text_hash(pair.perturbed)
        for _, pair, _ in READING.all_pairs(READING.english_categories())
    }
    for category, verdicts in rows().items():
        same = [row for row in verdicts if made.get(row["pair"]) == row["perturbed_sha256"]]
        assert len(same) / len(verdicts) >= READING.ENOUGH, category
