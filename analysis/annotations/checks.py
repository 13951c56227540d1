"""Attention checks: translations damaged on purpose, which an attentive annotator judges to be worse."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.statistics.shares import cluster_wilson, wilson
from challenge_sets.annotations import Annotation

ALL_ANNOTATORS = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One damaged output beside the same output undamaged, ``None`` where nobody annotated that one."""

    damaged: Annotation
    undamaged: Annotation | None

    @property
    def same_login(self) -> bool:
        """Whether one login judged both."""
        return self.undamaged is not None and self.undamaged.login == self.damaged.login

    @property
    def drop(self) -> float | None:
        """Judgement of the undamaged output minus that of the damaged one; positive: the damage was seen."""
        return None if self.undamaged is None else self.undamaged.value - self.damaged.value


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The checks of one annotator (or of ``ALL_ANNOTATORS``): damaged outputs judged lower, equal, higher.

    ``unmatched`` damaged outputs were annotated by nobody undamaged. ``share`` is lower / (lower + equal +
    higher) with Wilson's interval, for all annotators together adjusted for annotators who differ.
    ``log10_p`` is that of the one-sided sign test against chance, an equal judgement counting as a failed
    check; ``attentive`` says whether it is below the level. All are ``None`` without a check that can be
    compared, and ``attentive`` where so few can that passing all would not be below the level.
    """

    condition: str
    annotator: str
    lower: int
    equal: int
    higher: int
    unmatched: int
    same_login: int
    share: float | None
    interval: tuple[float, float] | None
    log10_p: float | None
    attentive: bool | None
    alpha: float

    @property
    def compared(self) -> int:
        """Checks with both judgements."""
        return self.lower + self.equal + self.higher


def attention_checks(annotations: Iterable[Annotation]) -> list[Check]:
    """Join each damaged output of one campaign with the same output undamaged.

    The judgement of the same login is preferred, in a real row or else in a filler copy; then the latest that
    any other login gave in a real row.
    """
    own: dict[tuple[str, str, int | None], Annotation] = {}
    others: dict[tuple[str, int | None], Annotation] = {}
    annotations = sorted(annotations, key=lambda found: (found.end_time, found.login))
    for kind in ("filler", "real"):
        for annotation in annotations:
            if annotation.kind == kind:
                own[annotation.login, annotation.system, annotation.line] = annotation
                if kind == "real":
                    others[annotation.system, annotation.line] = annotation
    return [
        Check(damaged, own.get((damaged.login, *output)) or others.get(output))
        for damaged in annotations
        if damaged.kind == "attention check"
        for output in ((damaged.system, damaged.line),)
    ]


def check_outcomes(condition: str, checks: Sequence[Check], *, alpha: float) -> list[CheckOutcome]:
    """The outcome for all annotators together, then for each by name; empty without checks.

    ``alpha`` is the level of the sign test by which an annotator is attentive.
    """
    if not checks:
        return []
    by_annotator: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        by_annotator[check.damaged.annotator].append(check)
    return [
        _outcome(condition, ALL_ANNOTATORS, checks, alpha),
        *(_outcome(condition, name, by_annotator[name], alpha) for name in sorted(by_annotator)),
    ]


def _outcome(condition: str, annotator: str, checks: Sequence[Check], alpha: float) -> CheckOutcome:
    drops = [check.drop for check in checks]
    known = [drop for drop in drops if drop is not None]
    lower = sum(drop > 0 for drop in known)
    log10_p = _sign_test(lower, len(known)) if known else None
    return CheckOutcome(
        condition=condition,
        annotator=annotator,
        lower=lower,
        equal=sum(drop == 0 for drop in known),
        higher=sum(drop < 0 for drop in known),
        unmatched=len(drops) - len(known),
        same_login=sum(check.same_login for check in checks),
        share=lower / len(known) if known else None,
        interval=_interval(checks, 1.0 - alpha) if known else None,
        log10_p=log10_p,
        attentive=None if log10_p is None or 0.5 ** len(known) >= alpha else log10_p < math.log10(alpha),
        alpha=alpha,
    )


def _interval(checks: Sequence[Check], level: float) -> tuple[float, float]:
    known = [(check.drop > 0, check.damaged.annotator) for check in checks if check.drop is not None]
    lower = np.array([success for success, _ in known])
    people = [annotator for _, annotator in known]
    if len(set(people)) < 2:
        return wilson(int(lower.sum()), len(known), level)
    return cluster_wilson(lower, people, level)


def _sign_test(successes: int, n: int) -> float:
    """Log10 of P(X >= successes) for X ~ Binomial(n, 1/2), in whole numbers."""
    ways = sum(math.comb(n, k) for k in range(successes, n + 1))
    return math.log2(ways) * math.log10(2.0) - n * math.log10(2.0)
