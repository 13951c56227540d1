"""What a perturbation is: it proposes changes to a text, and the workshop turns one of them into a pair."""

from __future__ import annotations

import hashlib
import json
import random
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from challenge_sets import Edit, Generator, Kind, Pair, Severity, Span, Translation
from challenge_sets.languages import same_language
from challenge_sets.registry import Registry

if TYPE_CHECKING:
    from spacy.tokens import Doc

Need = Literal["parse", "source", "reference", "other-translations", "llm"]


@dataclass(frozen=True, slots=True)
class Change:
    """Replace ``text[start:end]`` of the hypothesis by ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """What a perturbation may look at: the translation, its parse, and other translations to draw from."""

    translation: Translation
    parse: Doc | None = None
    """spaCy's parse of the hypothesis; present where the perturbation needs it."""
    others: tuple[Translation, ...] = ()
    """A fixed sample of translations into the same language, for those who need another text."""

    @property
    def text(self) -> str:
        """The hypothesis, the text that is perturbed."""
        return self.translation.hypothesis

    @property
    def required_parse(self) -> Doc:
        """The parse, for a perturbation that cannot do without; raises ``NotApplicableError`` without it."""
        if self.parse is None:
            raise NotApplicableError("the text was not parsed")
        return self.parse


class NotApplicableError(Exception):
    """Raised by a perturbation to say why this text gives no pair; ends up in the build report."""


class Perturbation(ABC):
    """One category in the languages it supports.

    A subclass sets the class constants and yields candidates; it never builds pairs itself. Randomness
    comes from the ``rng`` alone, so that a pair depends on nothing but the seed, the item and the category.
    """

    category: ClassVar[str]
    kind: ClassVar[Kind]
    severity: ClassVar[Severity]
    languages: ClassVar[tuple[str, ...]] = ()
    """Target languages; empty means any."""
    needs: ClassVar[frozenset[Need]] = frozenset()
    version: ClassVar[str] = "1"
    """Raise it whenever the same input may give another pair."""
    description: ClassVar[str]
    """One sentence: what is changed, and what a reader would call the error."""
    absent: ClassVar[str] = "nothing to change"
    """Reason in the build report when no candidate was found: ``no number in the text``."""

    @classmethod
    def needs_in(cls, target_lang: str) -> frozenset[Need]:
        """What it needs for texts in ``target_lang``: only English is ever parsed."""
        return cls.needs if same_language(target_lang, "en") else cls.needs - {"parse"}

    def supports(self, target_lang: str) -> bool:
        """Whether this category is made for texts in ``target_lang``."""
        return not self.languages or any(same_language(target_lang, known) for known in self.languages)

    @abstractmethod
    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Yield alternative perturbations, best first; each is the changes of ONE targeted edit.

        Changes are in order and do not overlap. The first candidate that makes a valid pair is taken,
        so that a subclass with several equal places shuffles them with ``rng``.
        """


PERTURBATIONS: Registry[Perturbation] = Registry(
    "category",
    Perturbation,
    modules=(
        "perturb.rules.subjects_objects",
        "perturb.rules.verbs",
        "perturb.rules.pronouns",
        "perturb.rules.words",
        "perturb.rules.names",
        "perturb.rules.segmentation",
        "perturb.rules.numbers",
        "perturb.rules.order",
        "perturb.rules.surface",
        "perturb.rules.insertions",
        "perturb.rules.controls",
        "perturb.rules.later",
    ),
)
"""Every category by name, in the order of the studies."""


def apply_changes(text: str, changes: Sequence[Change]) -> tuple[str, tuple[Edit, ...]]:
    """Apply ordered, disjoint changes; return the new text and one edit a change, spans in both texts.

    Changes that replace a text by itself give no edit. ``ValueError`` where changes overlap.
    """
    pieces: list[str] = []
    edits: list[Edit] = []
    here = length = 0
    for change in changes:
        if not here <= change.start <= change.end <= len(text):
            raise ValueError("changes overlap, are out of order or leave the text")
        pieces += (text[here : change.start], change.text)
        length += change.start - here
        before = text[change.start : change.end]
        if before != change.text:
            edits.append(
                Edit(
                    Span(change.start, change.end, before),
                    Span(length, length + len(change.text), change.text),
                )
            )
        length += len(change.text)
        here = change.end
    pieces.append(text[here:])
    return "".join(pieces), tuple(edits)


def random_source(seed: int, item: str, category: str) -> random.Random:
    """The random source of one edit: the same whatever was made before it and by which process."""
    key = json.dumps([seed, item, category], ensure_ascii=True)
    return random.Random(hashlib.sha256(key.encode()).digest())


def make_pair(perturbation: Perturbation, example: Example, seed: int) -> Pair:
    """Make the pair of one category for one translation.

    The pair is validated: it differs from the original after NFC (controls aside), is in NFC itself,
    and is equal to the original outside the edits.

    Raises ``NotApplicableError`` with the reason when the text gives none.
    """
    translation = example.translation
    text = example.text
    if not text.strip():
        raise NotApplicableError("the translation is empty")
    rng = random_source(seed, translation.item, perturbation.category)
    rejected = 0
    for changes in perturbation.candidates(example, rng):
        perturbed, edits = apply_changes(text, changes)
        if perturbation.kind != "control" and not _is_change(text, perturbed):
            rejected += 1
            continue
        if not unicodedata.is_normalized("NFC", perturbed):
            rejected += 1
            continue
        return Pair(
            pair=pair_id(translation, perturbation.category),
            item=translation.item,
            system=translation.system,
            category=perturbation.category,
            kind=perturbation.kind,
            original=text,
            perturbed=perturbed,
            edits=edits,
            severity=perturbation.severity,
            generator=Generator(perturbation.category, perturbation.version, "rule", seed),
        )
    raise NotApplicableError("no change makes another valid text" if rejected else perturbation.absent)


def pair_id(translation: Translation, category: str) -> str:
    """A short identifier that two different (item, system, category) never share in practice (64 bits)."""
    key = json.dumps([translation.item, translation.system, translation.target_lang, category])
    return f"{category}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _is_change(text: str, perturbed: str) -> bool:
    return bool(perturbed.strip()) and unicodedata.normalize("NFC", text) != unicodedata.normalize(
        "NFC", perturbed
    )
