"""Small sets for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from challenge_sets import ChallengeSet, Edit, Generator, Pair, SetWriter, Span, Translation

Record = Translation | Pair


def make_translation(item: str, hypothesis: str, **fields: object) -> Translation:
    known: dict[str, object] = {
        "item": item,
        "system": "alder",
        "source": f"Quelle {item}",
        "hypothesis": hypothesis,
        "reference": "The cat sat on the mat.",
        "source_lang": "de",
        "target_lang": "en",
        "doc": f"doc-{item}",
    }
    return Translation(**(known | fields))  # type: ignore[arg-type]


def make_pair(of: Translation, perturbed: str, number: int = 0) -> Pair:
    same = of.hypothesis == perturbed
    edit = Edit(Span(0, len(of.hypothesis), of.hypothesis), Span(0, len(perturbed), perturbed))
    return Pair(
        pair=f"{of.item}-{of.system}-{number}",
        item=of.item,
        system=of.system,
        category="identity" if same else "lexical",
        kind="control" if same else "error",
        original=of.hypothesis,
        perturbed=perturbed,
        edits=(edit,),
        severity="none" if same else "major",
        generator=Generator("test", "1", "given"),
    )


def make_set(out: Path, records: Iterable[Record], name: str = "small") -> ChallengeSet:
    with SetWriter(out, {"name": name}) as writer:
        for record in records:
            writer.add(record)
    return ChallengeSet(out)


def make_small_set(out: Path, items: int = 6, **fields: object) -> ChallengeSet:
    records: list[Record] = []
    for number in range(items):
        tested = make_translation(str(number), f"A cat number {number} sat on the mat, quietly.", **fields)
        stand_in = {**fields, "system": "birch"}
        records += [
            tested,
            make_translation(str(number), f"The cat number {number} was on a mat.", **stand_in),
            make_pair(tested, f"A cat number {number + 1} sat on the mat, quietly.", 0),
            make_pair(tested, f"A cat number {number} sat on the  mat, quietly.", 1),
        ]
    return make_set(out, records)


@pytest.fixture(scope="session")
def translation() -> Callable[..., Translation]:
    """``translation(item, hypothesis, **fields)``: by system ``alder``, from German into English."""
    return make_translation


@pytest.fixture(scope="session")
def pair() -> Callable[..., Pair]:
    """``pair(translation, perturbed, number)``: the edit covers the whole text."""
    return make_pair


@pytest.fixture(scope="session")
def write_set() -> Callable[..., ChallengeSet]:
    """``write_set(out, records)`` writes and opens a set."""
    return make_set


@pytest.fixture(scope="session")
def small_set() -> Callable[..., ChallengeSet]:
    """``small_set(out, items, **fields)``: two pairs an item by ``alder``, translations only by ``birch``.

    The second pair differs in white space alone.
    """
    return make_small_set
