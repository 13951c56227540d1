"""What a run has to do: which metric objects for which languages, and whether the set lets them work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from challenge_sets import ChallengeSet, InputError
from challenge_sets.sets import PAIRS
from metrics.base import Metric, MetricAbout
from metrics.cells import OWN_REFERENCE, Cells, Kind
from metrics.judges.options import JudgeOptions
from metrics.registry import METRICS
from metrics.requests import ModelOptions, Settings

_SYSTEMS_NAMED = 8


@dataclass(frozen=True, slots=True)
class Job:
    """One metric for one target language."""

    name: str
    settings: Settings
    about: MetricAbout
    batch: int
    devices: tuple[str, ...] = ()
    model_key: str = ""

    def make(self, device: str | None = None) -> Metric:
        """The metric object; every process makes its own, on its own device if there are several."""
        settings = self.settings
        if device is not None:
            settings = replace(settings, model=replace(settings.model, device=device))
        return METRICS[self.name].configured(settings.model)(settings)

    @property
    def kind(self) -> Kind:
        """Which inputs it takes."""
        return kind_of(self.about)


def kind_of(about: MetricAbout) -> Kind:
    """The kind of inputs that a metric takes."""
    return Kind(about.target_lang, about.inputs, about.pseudo_reference, about.reach)


@dataclass(slots=True)
class _UnderTest:
    """What was found out about the pairs before anything is scored."""

    languages: set[str]
    systems: set[str]
    has_reference: bool = False
    other_than_stand_in: bool = False


def plan_jobs(
    challenge_set: ChallengeSet,
    cells: Cells,
    names: Sequence[str],
    pseudo_reference: str | None,
    model: ModelOptions,
    judge: JudgeOptions | None = None,
) -> list[Job]:
    """One job for each metric and each target language under test.

    Raises ``InputError`` for an unknown metric or pseudo-reference system, a set without pairs, and a metric
    that needs a reference where no pair has one; ``MissingExtraError`` where a dependency is not installed.
    """
    classes = [METRICS[name].configured(model) for name in dict.fromkeys(names)]
    if not classes:
        raise InputError("no metric named", hint=f"known: {', '.join(METRICS)}")
    if pseudo_reference is not None and pseudo_reference not in cells.systems:
        raise InputError(
            f"the set holds no system '{pseudo_reference}' to take pseudo-references from",
            path=challenge_set.directory,
            hint=f"systems: {_named(cells.systems)}",
        )
    found = _look(challenge_set, cells, pseudo_reference)
    if not found.languages:
        raise InputError(f"{PAIRS} is empty, there is nothing to score", path=challenge_set.directory)
    needing = [metric.name for metric in classes if "reference" in metric.needs]
    if needing and not found.has_reference:
        raise _no_reference(challenge_set, cells, found, needing, pseudo_reference)
    in_context = [metric.name for metric in classes if "context" in metric.needs]
    if in_context and not cells.has_context:
        raise InputError(
            f"{', '.join(in_context)}: earlier turns are needed, but the translations under test have none",
            path=challenge_set.directory,
            hint="a judge without '-context' in its name does without",
        )
    all_made = []
    for metric in classes:
        for language in sorted(found.languages):
            stand_in = pseudo_reference if "reference" in metric.needs else None
            for settings in metric.repeated(Settings(language, stand_in, model, judge)):
                made = metric(settings)
                made.check_sources(cells.source_langs)
                all_made.append((metric.name, made))
    # A judge may have to ask something to know its signature: all that can be refused is refused by now.
    jobs = [
        Job(name, made.settings, MetricAbout.of(made), made.batch, made.devices(), made.model_key)
        for name, made in all_made
    ]
    _check_revision(jobs, model)
    return jobs


def _check_revision(jobs: Sequence[Job], model: ModelOptions) -> None:
    models = {job.model_key: job.name for job in jobs if job.model_key}
    if model.revision is not None and len(models) != 1:
        named = ", ".join(models.values()) or "no model at all"
        raise InputError(
            f"a revision belongs to one checkpoint, but the metrics need {named}",
            hint="score them one after the other; the table takes up all of them",
        )


def _look(challenge_set: ChallengeSet, cells: Cells, pseudo_reference: str | None) -> _UnderTest:
    """Read pairs until there is nothing left to find out; mostly that is the first pair."""
    found = _UnderTest(set(), set())
    everything = cells.target_langs
    for pair in challenge_set.pairs():
        tested = cells.tested(pair)
        reference = cells.reference(tested, pseudo_reference)
        found.languages.add(tested.target_lang)
        found.systems.add(tested.system)
        found.has_reference |= isinstance(reference, str)
        found.other_than_stand_in |= reference != OWN_REFERENCE
        if found.has_reference and found.languages == everything:
            break
    return found


def _no_reference(
    challenge_set: ChallengeSet,
    cells: Cells,
    found: _UnderTest,
    needing: Sequence[str],
    pseudo_reference: str | None,
) -> InputError:
    wanted = f"{', '.join(needing)}: a reference is needed"
    others = [system for system in cells.systems if system not in found.systems]
    if pseudo_reference is not None:
        why = (
            f"'{pseudo_reference}' has no translation of any item under test"
            if found.other_than_stand_in
            else f"every pair is made from '{pseudo_reference}' itself"
        )
        hint = f"name another system: {_named(others or cells.systems)}"
        return InputError(f"{wanted}, but {why}", path=challenge_set.directory, hint=hint)
    hint = "another system's translations can stand in: --pseudo-reference SYSTEM, "
    if len(cells.systems) == 1:
        hint += "but this set holds one system only; build it from two, or score with reference-free metrics"
    else:
        hint += f"with one of: {_named(others or cells.systems)}"
    why = "but the translations under test have none"
    return InputError(f"{wanted}, {why}", path=challenge_set.directory, hint=hint)


def _named(systems: Sequence[str]) -> str:
    more = len(systems) - _SYSTEMS_NAMED
    return ", ".join(systems[:_SYSTEMS_NAMED]) + (f" and {more} more" if more > 0 else "")
