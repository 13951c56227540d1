import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import Translation
from perturb import PERTURBATIONS, Change, Example, NotApplicableError, Perturbation, apply_changes, make_pair
from perturb.base import pair_id, random_source

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=30)


def translation(hypothesis: str, **more: object) -> Translation:
    return Translation("i/1", "s", "Quelle", hypothesis, "de", "en", "d", **more)  # type: ignore[arg-type]


class Fixed(Perturbation):
    """Yields the candidates it was given."""

    category = "fixed"
    kind = "error"
    severity = "major"
    description = "for tests"
    absent = "nothing fixed"

    def __init__(self, *candidates: Sequence[Change]) -> None:
        self.given = candidates

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        yield from self.given


@st.composite
def texts_with_changes(draw: st.DrawFn) -> tuple[str, list[Change]]:
    text = draw(TEXT)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    changes = [Change(a, b, draw(TEXT)) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    return text, changes


@given(texts_with_changes())
def test_edits_point_at_both_texts(case: tuple[str, list[Change]]) -> None:
    text, changes = case
    perturbed, edits = apply_changes(text, changes)
    for edit in edits:
        edit.original.check(text)
        edit.perturbed.check(perturbed)
    # Undoing every edit from the right gives the original back.
    undone = perturbed
    for edit in reversed(edits):
        undone = undone[: edit.perturbed.start] + edit.original.text + undone[edit.perturbed.end :]
    assert undone == text


@pytest.mark.parametrize(
    "changes",
    [[Change(2, 1, "")], [Change(0, 3, ""), Change(2, 4, "")], [Change(0, 9, "")], [Change(-1, 0, "")]],
)
def test_changes_that_do_not_fit(changes: list[Change]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_changes("abcd", changes)


def test_the_first_valid_candidate_is_taken() -> None:
    no_op, decomposed, blank, good = (
        [Change(0, 1, "a")],
        [Change(0, 1, "a\u0308")],
        [Change(0, 3, " ")],
        [Change(0, 1, "x")],
    )
    pair = make_pair(Fixed(no_op, decomposed, blank, good), Example(translation("abc")), 0)
    assert pair.perturbed == "xbc"
    assert pair.generator.seed == 0


@pytest.mark.parametrize(
    ("candidates", "hypothesis", "reason"),
    [
        ([], "abc", "nothing fixed"),
        ([[Change(0, 1, "a")]], "abc", "no change makes another valid text"),
        ([[Change(0, 1, "x")]], "  ", "the translation is empty"),
    ],
)
def test_why_there_is_no_pair(candidates: list[list[Change]], hypothesis: str, reason: str) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        make_pair(Fixed(*candidates), Example(translation(hypothesis)), 0)


def test_a_random_source_depends_on_seed_item_and_category_alone() -> None:
    draws = {
        key: random_source(*key).random()
        for key in [
            (0, "a", "b"),
            (1, "a", "b"),
            (0, "ab", ""),
            (0, "", "ab"),
            (0, "a", "c"),
            (0, 'a", "b', ""),
        ]
    }
    assert len(set(draws.values())) == len(draws)
    assert random_source(0, "a", "b").random() == draws[0, "a", "b"]


def test_pair_ids_of_near_misses_differ() -> None:
    ids = {
        pair_id(Translation(item, system, "s", "h", "de", "en", "d"), "c")
        for item, system in [("a_b", "c"), ("a", "b_c"), ('a"', "b"), ("a", '"b')]
    }
    assert len(ids) == 4


class TestControls:
    OTHERS = tuple(
        Translation(f"i/{n}", "s", f"Quelle {n}", f"other {n}", "de", "en", f"d{n}") for n in range(5)
    )

    def make(self, name: str, hypothesis: str = "one two three", **more: object) -> str:
        example = Example(translation(hypothesis, **more), others=self.OTHERS)
        pair = make_pair(PERTURBATIONS[name](), example, 3)
        assert pair.kind == "control"
        return pair.perturbed

    def test_identity(self) -> None:
        assert self.make("identity") == "one two three"

    def test_shuffled_words(self) -> None:
        shuffled = self.make("shuffled_words")
        assert shuffled != "one two three"
        assert sorted(shuffled.split()) == ["one", "three", "two"]
        assert sorted(self.make("shuffled_words", "他有三个孩子")) == sorted("他有三个孩子")
        with pytest.raises(NotApplicableError, match="fewer than two different words"):
            self.make("shuffled_words", "no no no")

    def test_unrelated_translation(self) -> None:
        assert self.make("unrelated_translation") in {other.hypothesis for other in self.OTHERS}
        with pytest.raises(NotApplicableError, match="no other document"):
            make_pair(PERTURBATIONS["unrelated_translation"](), Example(translation("x"), others=()), 0)

    def test_empty(self) -> None:
        assert self.make("empty") == ""

    def test_reference(self) -> None:
        assert self.make("reference_as_hypothesis", reference="gold") == "gold"
        with pytest.raises(NotApplicableError, match="no reference"):
            self.make("reference_as_hypothesis")


def test_every_category_declares_itself_fully() -> None:
    for name in PERTURBATIONS:
        cls = PERTURBATIONS[name]
        assert cls.category == name
        assert cls.kind in ("error", "variation", "control")
        assert cls.severity in ("minor", "major", "critical", "none")
        assert cls.needs <= {"parse", "source", "reference", "other-translations", "llm"}
        assert cls.description
        assert cls.__doc__


def test_what_the_studies_and_general_practice_ask_for_is_there() -> None:
    study = {
        "omitted_subject", "omitted_object", "lexical", "pronoun", "tense", "title",
        "name_format", "name_annotation", "segmentation", "modern_sense", "modern_chinese",
    }  # fmt: skip
    general = {
        "number", "negation", "named_entity", "addition", "word_order", "untranslated",
        "punctuation", "casing", "typo", "repetition", "unit_date",
    }  # fmt: skip
    made = {name: PERTURBATIONS[name]() for name in PERTURBATIONS}
    assert study | general <= set(made)
    assert all(made[name].supports("en") for name in study | general)
    five = {"number", "untranslated", "punctuation", "typo", "repetition"}
    assert all(made[name].supports("de") for name in five | {"addition", "word_order"})
    assert all(made[name].supports(tag) for name in five for tag in ("ja", "zh-Hans"))
    assert {name for name in made if made[name].kind == "variation"} == {
        "name_format",
        "name_annotation",
        "segmentation",
    }
