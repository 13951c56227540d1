from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import pytest

from analysis.annotations.errors import error_rates, rates_by_part
from challenge_sets.annotations import Annotation, ErrorSpan
from challenge_sets.esa import Campaign

Make = Callable[..., Annotation]


def test_a_small_campaign_by_hand(annotation: Make) -> None:
    found = [
        annotation(0, spans=(ErrorSpan(0, 2, "major"), ErrorSpan(None, None, "minor")), domain="news"),
        annotation(1, errors=1, domain="news", text="x" * 20),
        annotation(2, doc="e", system="B", domain="social"),
        annotation(3, doc="f", system="B", errors=1, text=None),
    ]
    rates = error_rates("c", "condition", "", found, level=0.95)
    assert (rates.annotations, rates.documents, rates.errors, rates.omissions) == (4, 3, 4, 1)
    assert (rates.mean, rates.error_free, rates.error_free_share) == (1.0, 1, 0.25)
    # Three errors in the 40 characters known; the one in an unknown text is not among them.
    assert (rates.characters, rates.without_text, rates.per_1000) == (40, 1, 75.0)
    assert rates.severities == {"minor": 3, "major": 1, "undecided": 0}
    assert rates.severity_shares == {"minor": 0.75, "major": 0.25, "undecided": 0.0}
    assert rates.interval is not None
    assert rates.interval[0] < 1.0 < rates.interval[1]
    systems = rates_by_part("c", found, "system", level=0.95)
    assert [(one.name, one.annotations, one.errors) for one in systems] == [("A", 2, 3), ("B", 2, 1)]
    domains = rates_by_part("c", found, "domain", level=0.95)
    assert [(one.name, one.annotations) for one in domains] == [("news", 2), ("social", 1)]


def test_nothing_and_nothing_wrong(annotation: Make) -> None:
    empty = error_rates("c", "condition", "", [], level=0.95)
    assert (empty.mean, empty.interval, empty.per_1000, empty.error_free_share) == (None,) * 4
    assert (empty.severity_shares, empty.boundary.share, empty.state) == (None, None, "no data")
    clean = error_rates("c", "condition", "", [annotation(0), annotation(1, doc="e")], level=0.95)
    assert (clean.mean, clean.per_1000, clean.error_free_share) == (0.0, 0.0, 1.0)
    # No errors: there is no share of them.
    assert (clean.severity_shares, clean.boundary.share) == (None, None)
    assert (clean.interval, clean.state) == (None, "degenerate")
    unread = error_rates("c", "condition", "", [annotation(0, text="", errors=0)], level=0.95)
    assert (unread.characters, unread.per_1000, unread.state) == (0, None, "too few")


def test_order_and_names_do_not_matter(annotation: Make) -> None:
    draw = Random(3)
    found = [
        annotation(line, doc=f"d{line // 4}", system=draw.choice("ABC"), errors=draw.randrange(4))
        for line in range(40)
    ]
    shuffled = found[:]
    draw.shuffle(shuffled)
    assert error_rates("c", "condition", "", found, level=0.9) == error_rates(
        "c", "condition", "", shuffled, level=0.9
    )
    twice = error_rates("c", "condition", "", found * 2, level=0.9)
    once = error_rates("c", "condition", "", found, level=0.9)
    assert (twice.mean, twice.per_1000, twice.interval) == (
        pytest.approx(once.mean),
        pytest.approx(once.per_1000),
        pytest.approx(once.interval),
    )


PUBLISHED = [
    # name, file, errors, omissions, without errors, per 1,000 characters
    ("ESA-1", "240315rc5ESA.scores.csv", 1160, 344, 1953, 0.9854),
    ("ESA-2", "240520rc6ESA.scores.csv", 2728, 259, 1555, 2.3174),
    ("MQM-1", "240315rc5MQM.scores.csv", 1376, 216, 1869, 1.1689),
]


@pytest.mark.data
@pytest.mark.parametrize(("name", "file", "errors", "omissions", "free", "rate"), PUBLISHED)
def test_published_campaigns_counted_again(
    campaigns: Mapping[str, Campaign],
    data: Path,
    name: str,
    file: str,
    errors: int,
    omissions: int,
    free: int,
    rate: float,
) -> None:
    rates = error_rates(name, "condition", "", campaigns[name].real(), level=0.95)
    folder = data / "esa_wmt23_ende"
    batches = json.loads((folder / "batches_wmt23_en-de_esa.json").read_text(encoding="utf-8"))
    texts = {
        (item["itemID"], item["documentID"], task): item["targetText"]
        for task, batch in enumerate(batches)
        for item in batch["items"]
    }
    last: dict[tuple[str, ...], list[str]] = {}
    with (folder / file).open(encoding="utf-8", newline="") as stream:
        for row in csv.reader(stream):
            if row[3] == "TGT" and not re.search(r"tutorial|#duplicate", row[7]):
                key = (row[0], row[2], row[7])
                if key not in last or float(row[11]) > float(last[key][11]):
                    last[key] = row
    spans = [json.loads(row[9]) for row in last.values()]
    characters = sum(
        # Logins are numbered as the tasks are, from 1, in the last two digits (hexadecimal).
        len(texts[int(row[2]), row[7], int(row[0][-2:], 16) - 1])
        for row in last.values()
    )
    assert rates.annotations == len(last) == 2691
    assert rates.errors == sum(map(len, spans)) == errors
    assert (
        rates.omissions == sum(one["start_i"] == "missing" for found in spans for one in found) == omissions
    )
    assert rates.error_free == sum(not found for found in spans) == free
    assert rates.severities["major"] == sum(one["severity"] == "major" for found in spans for one in found)
    assert rates.characters == characters == 1177156
    assert rates.per_1000 == pytest.approx(1000 * errors / characters)
    assert rates.per_1000 == pytest.approx(rate, abs=5e-5)


@pytest.mark.data
def test_japanese_figures(campaigns: Mapping[str, Campaign]) -> None:
    rates = error_rates("WMT24", "condition", "", campaigns["WMT24"].real(), level=0.95)
    assert (rates.annotations, rates.errors, rates.omissions, rates.error_free) == (4381, 1179, 116, 3658)
    assert rates.mean == pytest.approx(0.26912, abs=5e-6)
    assert rates.per_1000 == pytest.approx(2.7876, abs=5e-5)
    systems = rates_by_part("WMT24", campaigns["WMT24"].real(), "system", level=0.95)
    assert [one.annotations for one in systems] == [337] * 13
    assert sum(one.errors for one in systems) == rates.errors
