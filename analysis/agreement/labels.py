"""Two annotators' labels of the same items: Cohen's kappa per category, per kind and overall."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from analysis.agreement.kappa import BinaryCounts, Kappa, kappa_from_labels
from analysis.long_table import read_long_table
from challenge_sets import InputError

Part = Literal["category", "kind", "overall"]

OVERALL = "overall"
_VALID = {"valid": "invalid", "accepted": "rejected", "1": "0", "true": "false"}
_WHOLE = re.compile(r"([-+]?\d+)\.0+")


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """One item's labels, ``None`` where missing; ``category`` and ``kind`` where the table has them."""

    first: str | None
    second: str | None
    category: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """Kappa of one part of the items; ``counts`` where the labels are two and one of them means valid."""

    part: Part
    name: str
    kappa: Kappa
    counts: BinaryCounts | None


def read_labels(path: str | Path) -> list[LabelledItem]:
    """Read ``annotator1,annotator2`` and, if there, ``category`` and ``kind``, from a CSV file.

    An empty label is missing. ``1.0``, which spreadsheets make of a 1 beside an empty field, is ``1``.
    Raises ``InputError`` for what ``read_long_table`` refuses, and for labels that differ in case alone.
    """
    table = read_long_table(
        path,
        text=("annotator1", "annotator2", "category", "kind"),
        optional=("category", "kind"),
        sparse=("annotator1", "annotator2"),
    )
    columns = {
        name: [column.levels[code] for code in column.codes.tolist()] for name, column in table.text.items()
    }
    _refuse_spellings({*columns["annotator1"], *columns["annotator2"]}, table.path)
    nothing: list[str | None] = [None] * table.rows
    return [
        LabelledItem(_label(first), _label(second), category, kind)
        for first, second, category, kind in zip(
            columns["annotator1"],
            columns["annotator2"],
            columns.get("category", nothing),
            columns.get("kind", nothing),
            strict=True,
        )
    ]


def _label(text: str) -> str | None:
    text = text.strip()
    whole = _WHOLE.fullmatch(text)
    return (whole[1] if whole else text) or None


def _refuse_spellings(labels: Iterable[str], path: Path) -> None:
    seen: dict[str, str] = {}
    for label in sorted({label.strip() for label in labels}):
        other = seen.setdefault(label.casefold(), label)
        if other != label:
            raise InputError(
                f"the labels {other!r} and {label!r} differ in case alone",
                path=path,
                hint="write each label in one way, else the same answer counts as disagreement",
            )


def binary_counts(option: str, value: str) -> BinaryCounts:
    """The counts in ``N,A1,A2,BOTH,NEITHER``; ``InputError`` names ``option`` where they are not that."""
    parts = [part.strip() for part in value.split(",")]
    if len(parts) != 5 or not all(re.fullmatch(r"-?[0-9]{1,9}", part) for part in parts):
        raise InputError(
            f"{option} is '{value}', it is five whole numbers: N,A1,A2,BOTH,NEITHER",
            hint=f"e.g. {option} 112,100,102,96,6",
        )
    return BinaryCounts(*map(int, parts))


def agreement_rows(
    items: Sequence[LabelledItem], *, resamples: int = 0, seed: int = 0, confidence: float = 0.95
) -> list[AgreementRow]:
    """Kappa of each category and each kind, by name, and of all items; as in Quinjica et al. 2026, Table 7.

    The answer does not depend on the order of ``items``.
    """
    valid = _valid_label({label for item in items for label in (item.first, item.second) if label})
    parts: list[tuple[Part, str, Sequence[LabelledItem]]] = [
        *(("category", name, members) for name, members in _grouped(items, lambda item: item.category)),
        *(("kind", name, members) for name, members in _grouped(items, lambda item: item.kind)),
        ("overall", OVERALL, items),
    ]
    return [
        AgreementRow(
            part,
            name,
            kappa_from_labels(
                [item.first for item in members],
                [item.second for item in members],
                resamples=resamples,
                seed=seed,
                confidence=confidence,
            ),
            None if valid is None else _counts(members, valid),
        )
        for part, name, members in parts
    ]


def _grouped(
    items: Iterable[LabelledItem], key: Callable[[LabelledItem], str | None]
) -> list[tuple[str, list[LabelledItem]]]:
    groups: Mapping[str, list[LabelledItem]] = defaultdict(list)
    for item in items:
        name = key(item)
        if name is not None:
            groups[name].append(item)
    return sorted(groups.items())


def _valid_label(labels: set[str]) -> str | None:
    """The label that means valid, where all labels are of one pair such as accepted and rejected."""
    for valid, invalid in _VALID.items():
        if labels and {label.casefold() for label in labels} <= {valid, invalid}:
            return next((label for label in labels if label.casefold() == valid), valid)
    return None


def _counts(items: Iterable[LabelledItem], valid: str) -> BinaryCounts:
    pairs = [
        (item.first == valid, item.second == valid)
        for item in items
        if item.first is not None and item.second is not None
    ]
    return BinaryCounts(
        n=len(pairs),
        valid1=sum(first for first, _ in pairs),
        valid2=sum(second for _, second in pairs),
        both_valid=sum(first and second for first, second in pairs),
        both_invalid=sum(not first and not second for first, second in pairs),
    )
