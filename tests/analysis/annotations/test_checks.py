from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pytest
from scipy.stats import binom

from analysis.annotations.checks import attention_checks, check_outcomes
from analysis.statistics.shares import wilson
from challenge_sets.annotations import Annotation
from challenge_sets.esa import Campaign

Make = Callable[..., Annotation]


def damaged(make: Make, line: int = 0, **changes: object) -> Annotation:
    return make(line, kind="attention check", document_id="d#bad", **changes)


def test_which_undamaged_output_a_check_is_held_against(annotation: Make) -> None:
    check = damaged(annotation, score=10.0)
    own = annotation(0, score=20.0)
    filler = annotation(0, kind="filler", document_id="d#dup", score=30.0, end_time=9.0)
    early = annotation(0, login="l2", score=40.0, end_time=5.0)
    late = annotation(0, login="l3", score=50.0, end_time=6.0)
    elsewhere = [annotation(1), annotation(0, system="B")]
    order = [own, filler, late, early]
    for skipped in range(5):
        found = attention_checks([check, *order[skipped:], *elsewhere])
        assert len(found) == 1
        expected = order[skipped] if skipped < 4 else None
        assert found[0].undamaged == expected
        assert found[0].drop == (None if expected is None else (expected.score or 0.0) - 10.0)
        assert found[0].same_login == (skipped < 2)


def test_outcomes_by_annotator(annotation: Make) -> None:
    saves = []
    for line in range(12):
        saves += [annotation(line), annotation(line, login="l2"), damaged(annotation, line, score=5.0)]
        saves.append(damaged(annotation, line, login="l2", score=80.0 if line < 6 else 90.0))
    saves.append(damaged(annotation, 99, login="l3"))
    everyone, first, second, third = check_outcomes("c", attention_checks(saves), alpha=0.05)
    assert (everyone.lower, everyone.equal, everyone.higher, everyone.unmatched) == (12, 6, 6, 1)
    assert (first.annotator, first.lower, first.share, first.attentive) == ("l1", 12, 1.0, True)
    assert first.log10_p == pytest.approx(12 * math.log10(0.5))
    assert (second.lower, second.equal, second.higher, second.attentive) == (0, 6, 6, False)
    assert second.log10_p == 0.0
    assert (third.compared, third.share, third.log10_p, third.attentive) == (0, None, None, None)
    assert check_outcomes("c", [], alpha=0.05) == []


def test_the_sign_test(annotation: Make) -> None:
    for failed in range(13):
        saves = []
        for line in range(12):
            saves += [annotation(line), damaged(annotation, line, score=90.0 if line < failed else 5.0)]
        outcome = check_outcomes("c", attention_checks(saves), alpha=0.05)[0]
        assert outcome.log10_p == pytest.approx(math.log10(binom.sf(11 - failed, 12, 0.5)), abs=1e-12)
        assert outcome.attentive == (failed <= 2)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "lower", "equal", "higher", "logins"),
    [
        ("WMT24", 657, 9, 6, 56),
        ("ESA-1", 351, 5, 41, 33),
        ("ESA-2", 330, 13, 54, 33),
        ("MQM-1", 329, 54, 14, 33),
    ],
)
def test_published_checks(
    campaigns: Mapping[str, Campaign], name: str, lower: int, equal: int, higher: int, logins: int
) -> None:
    checks = attention_checks(campaigns[name].annotations)
    total = check_outcomes(name, checks, alpha=0.05)[0]
    assert (total.lower, total.equal, total.higher) == (lower, equal, higher)
    # Every damaged output was judged undamaged by the same login, in a real row or in a filler copy.
    assert (total.unmatched, total.same_login) == (0, total.compared)
    assert len({check.damaged.login for check in checks}) == logins
    # Annotators differ, so together they say less than as many independent checks would.
    assert total.interval is not None
    plain = wilson(lower, total.compared)
    assert total.interval[0] <= plain[0] < lower / total.compared < plain[1] <= total.interval[1]
