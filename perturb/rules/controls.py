"""Controls: what any metric must notice, and what none may react to."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from perturb.base import PERTURBATIONS, Change, Example, NotApplicableError, Perturbation


def _whole(example: Example, text: str) -> Sequence[Change]:
    return [Change(0, len(example.text), text)]


@PERTURBATIONS.register("identity")
class Identity(Perturbation):
    """The same text twice: a metric whose delta is not exactly 0 here is not reproducible."""

    category = "identity"
    kind = "control"
    severity = "none"
    description = "the text unchanged"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """One candidate without changes."""
        yield []


@PERTURBATIONS.register("shuffled_words")
class ShuffledWords(Perturbation):
    """The words of the text in random order."""

    category = "shuffled_words"
    kind = "control"
    severity = "critical"
    description = "all words in random order (characters, where the script has no spaces)"
    absent = "fewer than two different words"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Shuffle until the order differs; texts without spaces are shuffled by character."""
        spaced = example.text.split(" ")
        units, joint = (spaced, " ") if len(spaced) > 1 else (list(example.text), "")
        if len(set(units)) < 2:
            return
        shuffled = list(units)
        while shuffled == units:
            rng.shuffle(shuffled)
        yield _whole(example, joint.join(shuffled))


@PERTURBATIONS.register("unrelated_translation")
class UnrelatedTranslation(Perturbation):
    """A fluent translation of something else."""

    category = "unrelated_translation"
    kind = "control"
    severity = "critical"
    needs = frozenset({"other-translations"})
    description = "the translation of another source segment"
    absent = "no other document's translation to take"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Draw from other documents in the same target language."""
        own = example.translation
        first = rng.randrange(len(example.others)) if example.others else 0
        for other in (*example.others[first:], *example.others[:first]):
            if other.doc != own.doc and other.source != own.source and other.hypothesis.strip():
                yield _whole(example, other.hypothesis)


@PERTURBATIONS.register("empty")
class Empty(Perturbation):
    """Nothing at all."""

    category = "empty"
    kind = "control"
    severity = "critical"
    description = "an empty translation"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Delete everything."""
        yield _whole(example, "")


@PERTURBATIONS.register("reference_as_hypothesis")
class ReferenceAsHypothesis(Perturbation):
    """The human reference in the system's place: not worse, whatever a reference-based metric says."""

    category = "reference_as_hypothesis"
    kind = "control"
    severity = "none"
    needs = frozenset({"reference"})
    description = "the reference translation in place of the hypothesis"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """The whole text is replaced."""
        reference = example.translation.reference
        if reference is None:
            raise NotApplicableError("the item has no reference")
        yield _whole(example, reference)
