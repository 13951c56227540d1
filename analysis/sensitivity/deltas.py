"""Joins a set's pairs with their scores: what each metric took off for each edit, per category.

delta = value(original) - value(perturbed), in metric units: positive means that the metric penalised
the edit. Scores under different signatures are different metrics here and are never pooled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.sensitivity.scores import PairScores
from analysis.statistics.estimates import ROUNDING
from challenge_sets import BLIND, KINDS, ChallengeSet, InputError, Kind, Score
from metrics.base import MetricAbout

N = TypeVar("N", bound=Hashable)
CellKey = tuple[Kind, str]
"""Kind and category of pairs."""

NOT_SCORED = "not scored"
_ABSENT, _SEEN, _FAILED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class CellDeltas:
    """One metric's deltas in one category; ``deltas`` and ``segments`` have shape ``(n,)``.

    ``segments`` numbers the items that the pairs were made from (for a metric that reads documents: the
    documents), ``missing`` counts pairs without a delta by the status of the score (or ``not scored``),
    ``blind`` the pairs whose edit the metric
    cannot see by construction: they have no part in ``deltas``.
    """

    deltas: NDArray[np.float64]
    segments: NDArray[np.intp]
    missing: Mapping[str, int]
    blind: int

    @property
    def pairs(self) -> int:
        """All pairs of the category: seen, missing and blind."""
        return int(self.deltas.size) + sum(self.missing.values()) + self.blind


@dataclass(frozen=True, slots=True)
class MetricDeltas:
    """One metric's deltas in all categories, errors first, categories by name."""

    metric: MetricAbout
    label: str
    """The metric's name and, where it has several signatures, what tells this one apart."""
    cells: Mapping[CellKey, CellDeltas]
    noise: float
    """Differences up to this size, in metric units, come from rounding of the scores."""
    original_sd: float | None = None
    """SD of the metric's scores over the distinct original outputs; ``None`` where they do not vary."""


@dataclass(frozen=True, slots=True)
class DeltaTable:
    """What ``read_deltas`` found; ``rejected`` counts the pairs left out because vetting rejected them.

    ``items`` names the segments by their numbers.
    """

    set_name: str
    fingerprint: str
    metrics: tuple[MetricDeltas, ...]
    rejected: int
    items: tuple[str, ...]


def read_deltas(set_directory: ChallengeSet, scores: PairScores) -> DeltaTable:
    """Join pairs and scores. Metrics keep the order of the scores, sentinels after all others.

    Raises ``InputError`` for a score given twice, a score of a pair that the set does not hold, and
    where there is nothing to compare. The result does not depend on the order of rows or pairs.
    """
    joined = _join(set_directory, scores)
    return joined.table(np.arange(len(joined.keys)))


def read_deltas_by(
    set_directory: ChallengeSet, scores: PairScores, factor: str
) -> tuple[DeltaTable, dict[str, DeltaTable]]:
    """The whole table, and one table for each level of ``factor``, levels by name.

    ``factor`` is ``domain``, ``target_lang`` or a field of the translations' ``meta``. Segments have the same
    numbers in all tables. Raises ``InputError`` as ``read_deltas`` does, and where a pair's translation has
    no such field.
    """
    joined = _join(set_directory, scores)
    levels = np.array(_levels(set_directory, joined.keys, factor))
    whole = joined.table(np.arange(len(joined.keys)))
    return whole, {str(level): joined.table(np.flatnonzero(levels == level)) for level in np.unique(levels)}


def _join(set_directory: ChallengeSet, scores: PairScores) -> _Joined:
    rejected: set[str] = set()
    accepted: list[_Key] = []
    for pair in set_directory.pairs():
        if pair.vetting.status == "rejected":
            rejected.add(pair.pair)
        else:
            accepted.append(_Key(pair.pair, pair.item, pair.system, pair.kind, pair.category))
    set_directory.check_unchanged()
    accepted.sort()
    if not accepted:
        raise InputError("the set holds no pairs", path=set_directory.directory)
    place = {key.pair: number for number, key in enumerate(accepted)}
    if len(place) != len(accepted) or place.keys() & rejected:
        raise InputError("two pairs have the same name", path=set_directory.directory)
    sides = [_Sides(len(accepted)) for _ in scores.metrics]
    for metric, score in scores.rows():
        if score.pair in rejected:
            continue
        if score.pair not in place:
            raise InputError(f"the set holds no pair {score.pair!r}", path=scores.table)
        if not sides[metric].put(place[score.pair], score):
            raise InputError(
                f"a second {score.metric} score of the {score.side} side of {score.pair!r} "
                f"under the signature {score.signature}",
                path=scores.table,
            )
    languages = _languages(set_directory, accepted)
    scopes = [
        # A pair in another language is none of the metric's, unless it was scored all the same.
        np.array([about.target_lang in languages[key.item, key.system] for key in accepted])
        | (found.state != _ABSENT).any(axis=0)
        for about, found in zip(scores.metrics, sides, strict=True)
    ]
    documents = _documents(set_directory, accepted)
    joined = _Joined(set_directory, accepted, documents, scores.metrics, sides, scopes, len(rejected))
    if not any(scope.any() for scope in scopes):
        raise InputError("no pair of the set was scored", path=scores.table)
    return joined


@dataclass(frozen=True, slots=True)
class _Joined:
    """All accepted pairs in order, with each metric's values of both sides and the pairs in its scope."""

    source: ChallengeSet
    keys: list[_Key]
    documents: list[str]
    """Of each pair."""
    metrics: tuple[MetricAbout, ...]
    sides: list[_Sides]
    scopes: list[NDArray[np.bool_]]
    rejected: int

    def table(self, where: NDArray[np.intp]) -> DeltaTable:
        """The deltas of the pairs ``where``; metrics without a pair there keep their place, without cells."""
        items, segments = _numbered(key.item for key in self.keys)
        # Pairs of one document share what a metric that reads it saw: the document is the cluster.
        documents, by_document = _numbered(self.documents)
        by_document += len(items)
        _, originals = _numbered((key.item, key.system) for key in self.keys)
        members: dict[CellKey, list[int]] = {}
        for number in where:
            members.setdefault((self.keys[number].kind, self.keys[number].category), []).append(number)
        cells = {key: np.array(members[key], dtype=np.intp) for key in sorted(members, key=_order)}
        metrics = []
        for about, label, found, scope in zip(
            self.metrics, label_signatures(self.metrics), self.sides, self.scopes, strict=True
        ):
            clusters = segments if about.reach is None else by_document
            own = {key: found.cell(here[scope[here]], clusters) for key, here in cells.items()}
            metrics.append(
                MetricDeltas(
                    about,
                    label,
                    {key: cell for key, cell in own.items() if cell.pairs},
                    found.noise(),
                    found.original_sd(where, originals),
                )
            )
        metrics.sort(key=lambda entry: entry.metric.sentinel)
        return DeltaTable(
            self.source.name, self.source.fingerprint, tuple(metrics), self.rejected, items + documents
        )


class _Key(NamedTuple):
    """What the join needs of a pair; texts are not kept."""

    pair: str
    item: str
    system: str
    kind: Kind
    category: str


class _Sides:
    """One metric's values of both sides of every pair, filled row by row; row 0 is the original's side."""

    def __init__(self, pairs: int) -> None:
        self.values = np.full((2, pairs), np.nan)
        self.state = np.full((2, pairs), _ABSENT, dtype=np.int8)
        self.blind = np.zeros(pairs, dtype=bool)
        self.statuses: dict[int, str] = {}

    def put(self, pair: int, score: Score) -> bool:
        """Store a score; false where the side has one already."""
        side = 0 if score.side == "original" else 1
        if self.state[side, pair] != _ABSENT:
            return False
        self.state[side, pair] = _FAILED if score.value is None else _SEEN
        if score.value is None:
            # The copy's status comes before the original's: it is what the edit did.
            if side == 1 or pair not in self.statuses:
                self.statuses[pair] = score.status
        else:
            self.values[side, pair] = score.value
        self.blind[pair] |= score.reason.startswith(BLIND)
        return True

    def cell(self, where: NDArray[np.intp], segments: NDArray[np.intp]) -> CellDeltas:
        """The deltas of the pairs ``where``."""
        seen = where[~self.blind[where] & (self.state[:, where] == _SEEN).all(axis=0)]
        lacking = where[~self.blind[where] & (self.state[:, where] != _SEEN).any(axis=0)]
        missing = Counter(self.statuses.get(int(pair), NOT_SCORED) for pair in lacking)
        return CellDeltas(
            deltas=self.values[0, seen] - self.values[1, seen],
            segments=segments[seen],
            missing=dict(sorted(missing.items())),
            blind=int(self.blind[where].sum()),
        )

    def original_sd(self, where: NDArray[np.intp], originals: NDArray[np.intp]) -> float | None:
        """SD over the distinct original outputs among the pairs ``where``; several pairs share one output."""
        known = where[self.state[0, where] == _SEEN]
        _, first = np.unique(originals[known], return_index=True)
        values = self.values[0, known[first]]
        sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
        return sd if sd > self.noise() else None

    def noise(self) -> float:
        """Rounding of a difference of two scores, relative to the largest score."""
        known = np.abs(self.values[~np.isnan(self.values)])
        return ROUNDING * float(known.max()) if known.size else 0.0


def label_signatures(metrics: Sequence[MetricAbout]) -> list[str]:
    """Name each metric; where a name has several signatures, add the ``key:value`` parts that differ."""
    labels = []
    for metric in metrics:
        others = [_parts(other.signature) for other in metrics if other.name == metric.name]
        if len(others) == 1:
            labels.append(metric.name)
            continue
        common = set.intersection(*map(set, others))
        own = [part for part in _parts(metric.signature) if part not in common]
        # Nothing of its own: the others have a part more.
        labels.append(f"{metric.name} ({', '.join(own) if own else metric.signature})")
    return labels


def _parts(signature: str) -> list[str]:
    return signature.split("|")


def _order(key: CellKey) -> tuple[int, str]:
    return KINDS.index(key[0]), key[1]


def _numbered(names: Iterable[N]) -> tuple[tuple[N, ...], NDArray[np.intp]]:
    """The distinct names in order of first appearance, and each name's number."""
    numbers: dict[N, int] = {}
    codes = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)
    return tuple(numbers), codes


def _languages(set_directory: ChallengeSet, pairs: Sequence[_Key]) -> Mapping[tuple[str, str], set[str]]:
    """Target languages by (item, system) of the pairs."""
    found: dict[tuple[str, str], set[str]] = {(key.item, key.system): set() for key in pairs}
    for translation in set_directory.translations():
        if (translation.item, translation.system) in found:
            found[translation.item, translation.system].add(translation.target_lang)
    return found


def _documents(set_directory: ChallengeSet, pairs: Sequence[_Key]) -> list[str]:
    """The document of every pair, of whichever system."""
    found = {(each.item, each.system): each.doc for each in set_directory.translations()}
    return [found.get((key.item, key.system), key.item) for key in pairs]


def _levels(set_directory: ChallengeSet, pairs: Sequence[_Key], factor: str) -> list[str]:
    """The factor's level of every pair, from the translation it was made from."""
    wanted = {(key.item, key.system) for key in pairs}
    found: dict[tuple[str, str], str] = {}
    for translation in set_directory.translations():
        key = (translation.item, translation.system)
        if key not in wanted:
            continue
        level = {"domain": translation.domain, "target_lang": translation.target_lang}.get(
            factor, translation.meta.get(factor)
        )
        if level is None or level == "":
            raise InputError(
                f"the translation of {translation.item} by {translation.system} has no {factor!r}",
                path=set_directory.directory,
                hint="a factor is domain, target_lang or a field of meta that every translation has",
            )
        found[key] = str(level)
    return [found[key.item, key.system] for key in pairs]
