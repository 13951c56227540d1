from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from analysis.annotations.comparison import Comparison, Variant, compare_conditions, counted
from challenge_sets import InputError
from challenge_sets.annotations import Annotation, ErrorSpan
from challenge_sets.esa import Campaign

Make = Callable[..., Annotation]
NOBODY: dict[str, set[str]] = {"DOC": set(), "MIX": set()}


def drawn(make: Make, shift: float, *, docs: int = 30, seed: int = 1) -> dict[str, list[Annotation]]:
    """Three segments a document by four annotators; MIX has ``shift`` more errors an output on average."""
    rng = np.random.default_rng(seed)
    conditions: dict[str, list[Annotation]] = {"DOC": [], "MIX": []}
    for line in range(3 * docs):
        plain = int(rng.poisson(1.5))
        more = plain + int(rng.random() < abs(shift)) * int(np.sign(shift))
        for name, errors in (("DOC", plain), ("MIX", max(more, 0))):
            conditions[name].append(make(line, doc=f"d{line // 3}", login=f"l{line // 3 % 4}", errors=errors))
    return conditions


def by_variant(found: list[Comparison]) -> dict[Variant, Comparison]:
    return {one.variant: one for one in found}


def test_counts_by_hand(annotation: Make) -> None:
    omission, major = ErrorSpan(None, None, "minor"), ErrorSpan(4, 5, "major")
    conditions = {
        "DOC": [
            annotation(0, errors=2),
            annotation(0, login="l2", spans=(omission,)),
            annotation(1, doc="e", spans=(major,), login="l2"),
            annotation(2, doc="f"),
        ],
        "MIX": [annotation(0), annotation(1, doc="e", spans=(major,)), annotation(3, doc="g", errors=9)],
    }
    found = by_variant(compare_conditions(conditions, {"DOC": {"l1"}, "MIX": {"l1"}}))
    every = found[Variant.ALL]
    assert (every.outputs, every.only_first, every.only_second) == (2, 1, 1)
    # Output 0 has (2 + 1) / 2 errors under DOC; output 1 has one under both.
    assert (every.first.mean, every.second.mean, every.test.estimate.mean) == (1.25, 0.5, 0.75)
    assert (every.first.error_free_share, every.second.error_free_share) == (0.0, 0.5)
    assert every.error_free_points == -50.0
    assert found[Variant.MAJOR].first.mean == 0.5
    assert found[Variant.MAJOR].test.estimate.mean == 0.0
    assert found[Variant.PLACED].first.mean == 1.0
    # Only l1 is attentive: output 1 has no such annotation under DOC.
    assert (found[Variant.ATTENTIVE].outputs, found[Variant.ATTENTIVE].first.mean) == (1, 2.0)
    assert found[Variant.ATTENTIVE].test.verdict == "too few"


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [(0.05, "equivalent"), (0.9, "different"), (0.25, "both (different but negligible)")],
)
def test_verdicts(annotation: Make, shift: float, verdict: str) -> None:
    found = by_variant(compare_conditions(drawn(annotation, shift), NOBODY))[Variant.ALL]
    assert found.test.verdict == verdict
    assert found.clustered_by == ("document", "annotator")
    assert found.test.estimate.df == 3.0
    assert found.first.mean is not None
    assert found.second.mean is not None
    assert found.test.estimate.mean == pytest.approx(found.first.mean - found.second.mean)
    assert found.tost_interval is not None
    within = found.tost_interval[0] > -0.5 and found.tost_interval[1] < 0.5
    assert within == (verdict != "different")


def test_the_first_minus_the_second(annotation: Make) -> None:
    conditions = drawn(annotation, 0.25)
    ahead = compare_conditions(conditions, NOBODY)[0]
    back = compare_conditions(dict(reversed(conditions.items())), NOBODY)[0]
    assert back.test.estimate.mean == pytest.approx(-(ahead.test.estimate.mean or 0.0))
    assert back.test.tost is not None
    assert ahead.test.tost is not None
    assert back.test.tost.log10_p == pytest.approx(ahead.test.tost.log10_p)


def test_states_that_have_no_test(annotation: Make) -> None:
    same = drawn(annotation, 0.0)
    constant = compare_conditions(same, NOBODY)[0]
    assert (constant.test.verdict, constant.test.tost, constant.tost_interval) == ("degenerate", None, None)
    apart = compare_conditions({"DOC": same["DOC"], "MIX": []}, NOBODY)[0]
    assert (apart.outputs, apart.only_first, apart.first.mean) == (0, 90, None)
    assert (apart.test.verdict, apart.error_free_points) == ("no data", None)
    attentive = by_variant(compare_conditions(same, NOBODY))[Variant.ATTENTIVE]
    assert (attentive.test.verdict, attentive.outputs) == ("no data", 0)
    assert compare_conditions({"DOC": same["DOC"]}, NOBODY) == []
    with pytest.raises(InputError):
        compare_conditions(same, NOBODY, margin=0.0)


def test_what_variants_count() -> None:
    spans = (ErrorSpan(0, 1, "minor"), ErrorSpan(None, None, "major"), ErrorSpan(1, 2, "undecided"))
    assert {variant: len(counted(variant, spans)) for variant in Variant} == {
        Variant.ALL: 3,
        Variant.MAJOR: 1,
        Variant.PLACED: 2,
        Variant.ATTENTIVE: 3,
    }


@pytest.mark.data
def test_published_campaigns_against_statsmodels(campaigns: Mapping[str, Campaign], data: Path) -> None:
    from statsmodels.api import OLS

    conditions = {name: campaigns[name].real() for name in ("ESA-1", "MQM-1")}
    found = by_variant(compare_conditions(conditions, {name: set() for name in conditions}))[Variant.ALL]
    counts = defaultdict(dict)
    for name, members in conditions.items():
        for one in members:
            counts[one.system, one.line, one.doc][name] = len(one.spans)
    keys = sorted(counts)
    differences = np.array([counts[key]["ESA-1"] - counts[key]["MQM-1"] for key in keys], dtype=float)
    assert found.outputs == len(keys) == 2691
    assert found.test.estimate.mean == pytest.approx(differences.mean()) == pytest.approx(-0.08027, abs=5e-6)
    # Annotators add to what documents alone make of the standard error.
    docs = np.unique([key[2] for key in keys], return_inverse=True)[1]
    fit = OLS(differences, np.ones(len(keys))).fit(cov_type="cluster", cov_kwds={"groups": docs})
    assert found.test.estimate.se is not None
    assert found.test.estimate.se > float(fit.bse[0])
    assert found.test.verdict == "equivalent"
    with (data / "esa_wmt23_ende" / "Annotators_mapping.csv").open(encoding="utf-8-sig") as stream:
        people = {row["AnnotatorID"] for row in csv.DictReader(stream) if row["protocol"] == "ESA"}
    assert found.test.estimate.df == len(people) - 1 == 7


def test_several_annotators_of_an_output_are_each_a_cluster(annotation: Make) -> None:
    """Two of six people annotate each output on either side, and mark more or fewer errors as they are."""
    omission = ErrorSpan(None, None, "minor")
    rng = np.random.default_rng(4)
    found = []
    for _ in range(150):
        strictness = rng.poisson(3, 6)
        conditions: dict[str, list[Annotation]] = {"DOC": [], "MIX": []}
        for line in range(60):
            for side in conditions.values():
                for person in rng.choice(6, 2, replace=False):
                    errors = int(rng.poisson(0.5) + strictness[person])
                    own = {"doc": f"d{line // 3}", "login": f"l{person}"}
                    side.append(annotation(line, spans=(omission,) * errors, **own))
        every = by_variant(compare_conditions(conditions, NOBODY))[Variant.ALL]
        assert every.clustered_by == ("document", "annotator of the first", "annotator of the second")
        assert every.test.log10_p_difference is not None
        found.append(every.test.log10_p_difference < np.log10(0.05))
    # With every pair of people a cluster of its own, over 40 % of these nulls were rejected.
    assert sum(found) <= 18
