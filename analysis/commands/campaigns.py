"""Annotation campaigns from the options that name their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from challenge_sets import DataReport, InputError

if TYPE_CHECKING:
    from analysis.annotations.study import AnnotationOptions, AnnotationStudy


@dataclass(frozen=True, slots=True)
class CampaignFiles:
    """``campaigns`` are ``NAME=FILE`` as given; the other fields as the options of the same names."""

    campaigns: tuple[str, ...]
    batches: Path | None = None
    segments: Path | None = None
    mtme: Path | None = None
    annotators: Path | None = None
    lang_pair: str | None = None


def read_study(files: CampaignFiles, options: AnnotationOptions) -> tuple[AnnotationStudy, DataReport]:
    """Read the campaigns and analyse them; ``InputError`` for what is wrong with an option or a file."""
    from analysis.annotations.study import annotation_study
    from challenge_sets.esa import Sources, read_annotators, read_campaign
    from challenge_sets.languages import split_pair

    named = _named(files.campaigns)
    report = DataReport()
    sources = Sources(
        batches=files.batches,
        segments=files.segments,
        outputs=files.mtme,
        annotators=read_annotators(files.annotators, report) if files.annotators else {},
        languages=split_pair(files.lang_pair) if files.lang_pair else None,
    )
    campaigns = {
        name: [read_campaign(path, path.stem, sources, report) for path in paths]
        for name, paths in named.items()
    }
    return annotation_study(campaigns, options), report


def _named(campaigns: tuple[str, ...]) -> Mapping[str, list[Path]]:
    named: dict[str, list[Path]] = {}
    for given in campaigns:
        name, equals, path = given.partition("=")
        if not (name.strip() and equals and path):
            raise InputError(f"--campaign is '{given}'", hint="e.g. --campaign DOC=doc.csv")
        if Path(name.strip()).name != name.strip():
            raise InputError(f"--campaign: the name {name!r} cannot be part of a file name")
        named.setdefault(name.strip(), []).append(Path(path))
    paths = [path.resolve() for members in named.values() for path in members]
    if len(set(paths)) < len(paths):
        raise InputError("--campaign names a file twice", hint="name every campaign's file once")
    return named
