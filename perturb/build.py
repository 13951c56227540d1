"""Building a set: translations in, pairs out, streamed through worker processes."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from challenge_sets import DataReport, InputError, MissingExtraError, SetWriter, Translation
from challenge_sets.console import progress
from challenge_sets.files import dump_json, sha256_file
from challenge_sets.languages import english
from challenge_sets.parallel import chunked, ordered_map
from challenge_sets.readers import Reader
from challenge_sets.sets import MANIFEST, PAIRS, TRANSLATIONS
from perturb.base import PERTURBATIONS, Example, NotApplicableError, Perturbation, make_pair

OTHERS_KEPT = 256
"""Translations a target language that are kept to draw unrelated ones from."""

CHUNK = 128
"""Translations a worker takes at a time; fixed, so that the parser's batches do not depend on the workers."""


_NO_PARSER = "needs the optional dependency 'english'"


@dataclass(frozen=True)
class Recipe:
    """What to make: everything that decides the bytes of a set, beside its input."""

    categories: tuple[str, ...] | None = None
    """Category names; ``None`` means all that can be made here."""
    systems: tuple[str, ...] | None = None
    """Systems whose translations are perturbed; ``None`` means the reader's default."""
    limit: int | None = None
    """Only the first so many items."""
    seed: int = 0


@dataclass
class BuildReport:
    """What came of it: pairs a category, and why a category did not apply."""

    pairs: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Categories left out altogether, and why."""

    def refuse(self, category: str, reason: str, times: int = 1) -> None:
        """Count a text that gave no pair."""
        self.reasons.setdefault(category, Counter())[reason] += times

    def to_json(self) -> dict[str, Any]:
        """For the manifest: pairs made and the reasons against, by category."""
        return {
            category: {"pairs": made, "not_applied": dict(sorted(self.reasons.get(category, {}).items()))}
            for category, made in self.pairs.items()
        } | {category: {"pairs": 0, "left_out": why} for category, why in self.skipped.items()}


def build(reader: Reader, recipe: Recipe, out: Path, *, workers: int) -> BuildReport:
    """Write the set directory ``out``; the same input and recipe give the same bytes for any ``workers``.

    Raises ``InputError`` for wrong input, unknown systems or categories, or where no pair can be made;
    then nothing is written.
    """
    report = BuildReport()
    about: dict[str, Any] = {
        "name": reader.format,
        "version": "1",
        "made_by": "perturb build",
        "source_format": reader.format,
        "licence": reader.licence,
        "reference": reader.reference_name,
        "recipe": {
            "seed": recipe.seed,
            "limit": recipe.limit,
            "categories": recipe.categories,
            "columns": dict(reader.options.columns),
        },
        "inputs": [{"name": path.name, "sha256": sha256_file(path)} for path in reader.files],
    }
    outputs = {(out / name).resolve() for name in (MANIFEST, TRANSLATIONS, PAIRS)}
    for path in reader.files:
        if path.resolve() in outputs:
            raise InputError("the set would overwrite its own input", path=path, hint="choose another --out")
    data_report = DataReport()
    with SetWriter(out, about) as writer:
        if reader.ready_made:
            _copy_pairs(reader, recipe, writer, report, data_report)
        else:
            _make_pairs(reader, recipe, writer, report, data_report, workers)
        if not report.pairs.total():
            reasons = [f"{name}: {', '.join(counts)}" for name, counts in report.reasons.items()]
            raise InputError("no pair could be made", hint="\n  ".join(reasons) or "the input holds none")
        writer.about["data_report"] = data_report.to_json()
        writer.about["applicability"] = report.to_json()
    return report


def _copy_pairs(
    reader: Reader, recipe: Recipe, writer: SetWriter, report: BuildReport, data_report: DataReport
) -> None:
    """A ready-made set: its pairs as they are, filtered by category, system and number of items."""
    items: dict[str, None] = {}
    categories: set[str] = set()
    systems: set[str] = set()
    for translation in reader.translations(DataReport()):
        systems.add(translation.system)
        if recipe.limit is None or len(items) < recipe.limit or translation.item in items:
            items[translation.item] = None
            writer.add(translation)
    chosen = _chosen_systems(recipe.systems, systems, None)
    for pair in reader.pairs(data_report):
        categories.add(pair.category)
        wanted = recipe.categories is None or pair.category in recipe.categories
        if wanted and pair.item in items and pair.system in chosen:
            writer.add(pair)
            report.pairs[pair.category] += 1
    unknown = sorted(set(recipe.categories or ()) - categories)
    if unknown:
        raise InputError(
            f"this set has no category {', '.join(unknown)}", hint=f"it has: {', '.join(sorted(categories))}"
        )
    writer.about["systems_under_test"] = sorted(chosen)


def _make_pairs(
    reader: Reader,
    recipe: Recipe,
    writer: SetWriter,
    report: BuildReport,
    data_report: DataReport,
    workers: int,
) -> None:
    survey = Survey.of(reader.translations(DataReport()), recipe)
    if not survey.translations:
        source, target = reader.options.source_lang or "any", reader.options.target_lang or "any"
        raise InputError(f"the input holds no translation from {source} into {target} language")
    chosen = _chosen_systems(recipe.systems, survey.systems, reader.systems_under_test())
    categories = usable_categories(recipe.categories, survey.target_langs, report)
    report.pairs.update(dict.fromkeys(categories, 0))
    writer.about["systems_under_test"] = sorted(chosen)
    writer.about["language_pairs"] = sorted(survey.language_pairs)
    writer.about["name"] = f"{reader.format} {', '.join(sorted(survey.language_pairs))}"
    writer.about["generators"] = {name: PERTURBATIONS[name].version for name in categories}
    if any("parse" in PERTURBATIONS[name].needs_in(tag) for name, tags in categories.items() for tag in tags):
        writer.about["analysers"] = {"en": english.identity()}

    def under_test() -> Iterator[Translation]:
        for translation in _first_items(reader.translations(data_report), recipe.limit):
            writer.add(translation)
            if translation.system in chosen:
                yield translation

    results = ordered_map(
        _perturb_chunk,
        chunked(under_test(), CHUNK),
        workers=workers,
        initializer=_start_worker,
        initargs=(categories, recipe.seed, survey.others),
    )
    chunks = -(-sum(survey.systems[name] for name in chosen) // CHUNK) if recipe.limit is None else None
    for lines, refusals in progress(results, what="perturb", total=chunks):
        for category, line in lines:
            writer.add_line(line, category)
            report.pairs[category] += 1
        for (category, reason), times in refusals.items():
            report.refuse(category, reason, times)


@dataclass
class Survey:
    """A first look at the whole input: what is in it, and a fixed sample to draw unrelated texts from."""

    systems: Counter[str] = field(default_factory=Counter)
    target_langs: set[str] = field(default_factory=set)
    language_pairs: set[str] = field(default_factory=set)
    translations: int = 0
    others: dict[str, tuple[Translation, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, translations: Iterable[Translation], recipe: Recipe) -> Survey:
        """Read the stream once. The sample is the smallest hashes: it does not depend on the order."""
        survey = cls()
        smallest: dict[str, list[tuple[int, int, Translation]]] = {}
        for translation in translations:
            survey.translations += 1
            survey.systems[translation.system] += 1
            survey.target_langs.add(translation.target_lang)
            survey.language_pairs.add(f"{translation.source_lang}-{translation.target_lang}")
            key = dump_json([recipe.seed, translation.item, translation.system])
            rank = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")
            sample = smallest.setdefault(translation.target_lang, [])
            entry = (-rank, survey.translations, translation)
            if len(sample) < OTHERS_KEPT:
                heapq.heappush(sample, entry)
            elif entry > sample[0]:
                heapq.heapreplace(sample, entry)
        survey.others = {
            tag: tuple(translation for *_, translation in sorted(sample, reverse=True))
            for tag, sample in smallest.items()
        }
        return survey


def usable_categories(
    wanted: tuple[str, ...] | None, target_langs: Collection[str], report: BuildReport
) -> dict[str, frozenset[str]]:
    """The categories to make, each with the languages it is made in.

    What cannot be made here is left out with a reason, or refused if it was named.
    """
    usable = {}
    for name in PERTURBATIONS if wanted is None else wanted:
        cls = PERTURBATIONS[name]
        made_for = {tag for tag in target_langs if cls().supports(tag)}
        parser = english.available()
        languages = {tag for tag in made_for if parser or "parse" not in cls.needs_in(tag)}
        if not made_for:
            why = f"not made for {', '.join(sorted(target_langs))}"
        elif "llm" in cls.needs:
            why = "needs an LLM"
        elif not languages:
            if wanted is not None:
                raise MissingExtraError(f"the category '{name}'", "english")
            why = _NO_PARSER
        else:
            usable[name] = frozenset(languages)
            continue
        if wanted is not None:
            raise InputError(f"the category '{name}' cannot be made here: {why}")
        report.skipped[name] = why
    return usable


def _chosen_systems(
    wanted: tuple[str, ...] | None, known: Collection[str], default: tuple[str, ...] | None
) -> frozenset[str]:
    if wanted is None:
        return frozenset(known if default is None else default)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InputError(
            f"--systems: no system {', '.join(unknown)}", hint=f"known: {', '.join(sorted(known))}"
        )
    return frozenset(wanted)


def _first_items(translations: Iterable[Translation], limit: int | None) -> Iterator[Translation]:
    items: set[str] = set()
    for translation in translations:
        if limit is not None and translation.item not in items:
            if len(items) == limit:
                continue
            items.add(translation.item)
        yield translation


@dataclass(frozen=True)
class _Worker:
    """What a worker process holds between chunks."""

    perturbations: tuple[tuple[Perturbation, frozenset[str]], ...]
    """Each with the target languages it is made in."""
    seed: int
    others: dict[str, tuple[Translation, ...]]


_worker: _Worker | None = None


def _start_worker(
    categories: dict[str, frozenset[str]], seed: int, others: dict[str, tuple[Translation, ...]]
) -> None:
    global _worker  # noqa: PLW0603 - a process pool hands its initializer no other place to keep state
    perturbations = tuple((PERTURBATIONS[name](), languages) for name, languages in categories.items())
    _worker = _Worker(perturbations, seed, others)


Made = tuple[list[tuple[str, str]], Counter[tuple[str, str]]]


def _perturb_chunk(chunk: list[Translation]) -> Made:
    """Pairs of a chunk as JSON lines with their category, and the reasons where there is none."""
    if _worker is None:
        raise RuntimeError("the worker was not started")
    lines: list[tuple[str, str]] = []
    refusals: Counter[tuple[str, str]] = Counter()
    parsed = {
        tag
        for perturbation, languages in _worker.perturbations
        for tag in languages
        if "parse" in perturbation.needs_in(tag)
    }
    texts = dict.fromkeys(
        translation.hypothesis
        for translation in chunk
        if translation.target_lang in parsed
        and translation.hypothesis.strip()
        and len(translation.hypothesis) <= english.MOST_CHARACTERS
    )
    parses = dict(zip(texts, english.parse(texts), strict=True)) if texts else {}
    for translation in chunk:
        tag = translation.target_lang
        example = Example(translation, parses.get(translation.hypothesis), _worker.others[tag])
        for perturbation, languages in _worker.perturbations:
            category = perturbation.category
            if tag not in languages:
                made = perturbation.supports(tag)
                refusals[category, _NO_PARSER if made else f"not made for {tag}"] += 1
                continue
            try:
                pair = make_pair(perturbation, example, _worker.seed)
            except NotApplicableError as reason:
                refusals[category, str(reason)] += 1
            else:
                lines.append((category, dump_json(pair.to_json())))
    return lines, refusals
