"""Everything said of a study's campaigns, with the configuration that it was said under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.annotations.checks import CheckOutcome, attention_checks, check_outcomes
from analysis.annotations.comparison import MARGIN, Comparison, compare_conditions
from analysis.annotations.errors import PARTS, ErrorRates, rates_by_part
from analysis.annotations.times import PAUSE, TimeSpent, times_spent, visits
from challenge_sets import InputError
from challenge_sets.annotations import Annotation
from challenge_sets.esa import Campaign


@dataclass(frozen=True, slots=True)
class AnnotationOptions:
    """``margin`` in errors per annotation; ``alpha`` the level of the tests (intervals at 1 - alpha, those of
    a TOST at 1 - 2 alpha); ``pause`` in seconds.
    """

    margin: float = MARGIN
    alpha: float = 0.05
    pause: float = PAUSE

    def __post_init__(self) -> None:
        if not 0 < self.margin < float("inf"):
            raise InputError(f"--margin is {self.margin:g}, a margin is a positive number of errors")
        if not 0 < self.alpha < 0.5:
            raise InputError(f"--alpha is {self.alpha:g}, it lies between 0 and 0.5")
        if not 0 < self.pause < float("inf"):
            raise InputError(f"--pause is {self.pause:g}, it is a positive number of seconds")


@dataclass(frozen=True, slots=True)
class AnnotationStudy:
    """The campaigns of each condition, and what they say; every list is in the order of the conditions."""

    options: AnnotationOptions
    campaigns: Mapping[str, tuple[Campaign, ...]]
    rates: tuple[ErrorRates, ...]
    comparisons: tuple[Comparison, ...]
    checks: tuple[CheckOutcome, ...]
    times: tuple[TimeSpent, ...]

    def real(self, condition: str) -> list[Annotation]:
        """The annotations of a condition that count."""
        return [found for campaign in self.campaigns[condition] for found in campaign.real()]


def annotation_study(
    campaigns: Mapping[str, Sequence[Campaign]], options: AnnotationOptions
) -> AnnotationStudy:
    """Count, compare, check and time; several campaigns under one name are one condition.

    Raises ``InputError`` where the campaigns are of several language pairs.
    """
    pairs = {campaign.language_pair: campaign.path for members in campaigns.values() for campaign in members}
    if len(pairs) > 1:
        raise InputError(
            f"campaigns of several language pairs: {', '.join(sorted(pairs))}",
            hint="analyse each language pair for itself",
        )
    rates: list[ErrorRates] = []
    checks: list[CheckOutcome] = []
    times: list[TimeSpent] = []
    real: dict[str, list[Annotation]] = {}
    attentive: dict[str, set[str]] = {}
    level = 1.0 - options.alpha
    for name, members in campaigns.items():
        real[name] = [found for campaign in members for found in campaign.real()]
        joined = [check for campaign in members for check in attention_checks(campaign.annotations)]
        outcomes = check_outcomes(name, joined, alpha=options.alpha)
        attentive[name] = {outcome.annotator for outcome in outcomes[1:] if outcome.attentive}
        checks += outcomes
        turns = [visit for campaign in members for visit in visits(campaign.saves)]
        times += times_spent(name, turns, pause=options.pause)
        for part in PARTS:
            if part != "campaign" or len(members) > 1:
                rates += rates_by_part(name, real[name], part, level=level)
    comparisons = compare_conditions(real, attentive, margin=options.margin, alpha=options.alpha)
    return AnnotationStudy(
        options=options,
        campaigns={name: tuple(members) for name, members in campaigns.items()},
        rates=tuple(rates),
        comparisons=tuple(comparisons),
        checks=tuple(checks),
        times=tuple(times),
    )
