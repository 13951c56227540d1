"""The cells of a table: every side of every pair, joined with its translation, each distinct input once.

A cell holds no text. What is kept of a pair is its names and, for each kind of input, two numbers that
point at the distinct inputs; the texts stream by once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from challenge_sets import ChallengeSet, InputError, Pair, Turn
from challenge_sets.languages import normalise_language
from challenge_sets.sets import PAIRS, TRANSLATIONS
from metrics.base import Request, inputs_key

NO_REFERENCE = -1
OWN_REFERENCE = -2
NO_PSEUDO_REFERENCE = -3


class Kind(NamedTuple):
    """What decides the inputs of a request: the target language, the fields read, the reference taken."""

    target_lang: str
    inputs: tuple[str, ...]
    pseudo_reference: str | None


@dataclass(frozen=True, slots=True)
class Tested:
    """What a pair takes over from its translation."""

    item: str
    system: str
    doc: str
    source: str
    hypothesis: str
    reference: str | None
    context: tuple[Turn, ...]
    source_lang: str
    target_lang: str


@dataclass(slots=True)
class Column:
    """The inputs of one kind: distinct keys in order of appearance, and for each pair which two it has.

    A negative number says why a pair has none.
    """

    numbers: dict[bytes, int] = field(default_factory=dict)
    original: array[int] = field(default_factory=lambda: array("q"))
    perturbed: array[int] = field(default_factory=lambda: array("q"))

    @property
    def applicable(self) -> int:
        """Cells that can be scored: two a pair."""
        return 2 * sum(number >= 0 for number in self.original)


class PairRow(NamedTuple):
    """The names of a pair."""

    pair: str
    item: str
    system: str
    doc: str


class Cells:
    """The cells of one set. Reads the translations when made; pairs are streamed by ``stream``.

    Raises ``InputError`` for two translations of one (item, system).
    """

    def __init__(self, challenge_set: ChallengeSet) -> None:
        self._set = challenge_set
        self._tested: dict[tuple[str, str], Tested] = {}
        self.rows: dict[str, list[PairRow]] = {}
        """Target language to its pairs, in the set's order; complete after the first ``stream``."""
        self.columns: dict[Kind, Column] = {}
        self._read_translations()

    def _read_translations(self) -> None:
        # Systems share sources and references: one string object stands for all its equals.
        shared: dict[str, str] = {}

        def once(text: str) -> str:
            return shared.setdefault(text, text)

        for each in self._set.translations():
            key = (once(each.item), once(each.system))
            if key in self._tested:
                raise InputError(
                    f"two translations of item '{each.item}' by system '{each.system}'",
                    path=self._set.directory / TRANSLATIONS,
                )
            self._tested[key] = Tested(
                *key,
                doc=once(each.doc),
                source=once(each.source),
                hypothesis=each.hypothesis,
                reference=None if each.reference is None else once(each.reference),
                context=each.context,
                source_lang=once(each.source_lang),
                target_lang=normalise_language(each.target_lang),
            )

    @property
    def systems(self) -> list[str]:
        """Systems that the set holds translations of, sorted."""
        return sorted({system for _, system in self._tested})

    @property
    def target_langs(self) -> set[str]:
        """Target languages of the translations."""
        return {tested.target_lang for tested in self._tested.values()}

    def tested(self, pair: Pair) -> Tested:
        """The translation that a pair was made from; ``InputError`` where the set does not hold it."""
        try:
            return self._tested[pair.item, pair.system]
        except KeyError:
            raise InputError(
                f"pair '{pair.pair}' belongs to item '{pair.item}' of system '{pair.system}', "
                f"which {TRANSLATIONS} does not hold",
                path=self._set.directory / PAIRS,
            ) from None

    def reference(self, tested: Tested, pseudo_reference: str | None) -> str | int:
        """The reference of a translation, or the negative number that says why there is none."""
        # A reference without a word in it cannot be meant: scored as one, every text would tie at the bottom.
        if pseudo_reference is None:
            return tested.reference if tested.reference and tested.reference.strip() else NO_REFERENCE
        if tested.system == pseudo_reference:
            return OWN_REFERENCE
        stand_in = self._tested.get((tested.item, pseudo_reference))
        return stand_in.hypothesis if stand_in and stand_in.hypothesis.strip() else NO_PSEUDO_REFERENCE

    def stream(self, kinds: set[Kind]) -> Iterator[tuple[Kind, bytes, Request]]:
        """Read the pairs once, fill the columns of ``kinds``, and yield each distinct input as it comes."""
        wanted: dict[str, list[tuple[Kind, Column]]] = {}
        for kind in sorted(kinds, key=repr):
            self.columns[kind] = Column()
            wanted.setdefault(kind.target_lang, []).append((kind, self.columns[kind]))
        first = not self.rows
        names: set[str] = set()
        for pair in self._set.pairs():
            tested = self.tested(pair)
            if first:
                if pair.pair in names:
                    raise InputError(f"two pairs are named '{pair.pair}'", path=self._set.directory / PAIRS)
                names.add(pair.pair)
                row = PairRow(pair.pair, tested.item, tested.system, tested.doc)
                self.rows.setdefault(tested.target_lang, []).append(row)
            for kind, column in wanted.get(tested.target_lang, ()):
                yield from self._place(pair, tested, kind, column)

    def _place(
        self, pair: Pair, tested: Tested, kind: Kind, column: Column
    ) -> Iterator[tuple[Kind, bytes, Request]]:
        values: dict[str, Any] = {}
        for name in kind.inputs:
            if name == "reference":
                values[name] = self.reference(tested, kind.pseudo_reference)
                if isinstance(values[name], int):
                    column.original.append(values[name])
                    column.perturbed.append(values[name])
                    return
            elif name != "hypothesis":
                values[name] = getattr(tested, name)
        numbers = column.numbers
        for text, side in ((pair.original, column.original), (pair.perturbed, column.perturbed)):
            values["hypothesis"] = text
            key = inputs_key([values[name] for name in kind.inputs])
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(numbers)
                yield kind, key, Request(**values)
            side.append(number)


def why_not(number: int, kind: Kind) -> str:
    """The reason of a cell that cannot be scored."""
    reasons: Mapping[int, str] = {
        NO_REFERENCE: "the item has no reference",
        OWN_REFERENCE: f"'{kind.pseudo_reference}' is the pseudo-reference itself",
        NO_PSEUDO_REFERENCE: f"the pseudo-reference '{kind.pseudo_reference}' has no translation of the item",
    }
    return reasons[number]
