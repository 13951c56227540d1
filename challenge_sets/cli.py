"""Command line of ``challenge_sets``: what does a set hold?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from challenge_sets.files import dump_json
from challenge_sets.sets import ChallengeSet

app = typer.Typer(
    help="Challenge sets: records, set directories and readers of benchmark formats.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _commands() -> None:
    """Keep ``inspect`` a named command although it is the only one."""


@app.command()
def inspect(
    directory: Annotated[Path, typer.Argument(help="Set directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Print what a set holds, after checking every record and the hashes of its files."""
    held = summary(ChallengeSet(directory))
    if as_json:
        typer.echo(dump_json(held, indent=1))
        return
    typer.echo(f"{held['name']} (version {held['version']}), licence: {held['licence'] or 'not stated'}")
    for title in ("translations", "items", "documents", "with reference", "with context"):
        typer.echo(f"{title:16}{held[title]:8}")
    for title in ("language pairs", "systems", "domains", "pairs by kind", "pairs by category"):
        typer.echo(f"{title}:")
        for name, count in held[title].items():
            typer.echo(f"  {name:40}{count:8}")
    typer.echo("data report:" if held["data report"] else "data report: nothing was changed")
    for what, noted in held["data report"].items():
        typer.echo(f"  {what:60}{noted['count']:8}   first: {', '.join(noted['examples'][:2])}")


def summary(challenge_set: ChallengeSet) -> dict[str, Any]:
    """Counts of everything in the set; reads each record, so that a broken one is found."""
    items: set[str] = set()
    docs: set[str] = set()
    pairs, systems, domains = Counter[str](), Counter[str](), Counter[str]()
    kinds, categories = Counter[str](), Counter[str]()
    total = referenced = with_context = 0
    for translation in challenge_set.translations():
        total += 1
        items.add(translation.item)
        docs.add(translation.doc)
        pairs[f"{translation.source_lang}-{translation.target_lang}"] += 1
        systems[translation.system] += 1
        domains[translation.domain or "(none)"] += 1
        referenced += translation.reference is not None
        with_context += bool(translation.context)
    for pair in challenge_set.pairs():
        kinds[pair.kind] += 1
        categories[pair.category] += 1
    manifest = challenge_set.manifest
    return {
        "name": challenge_set.name,
        "version": manifest.get("version"),
        "licence": manifest.get("licence"),
        "translations": total,
        "items": len(items),
        "documents": len(docs),
        "with reference": referenced,
        "with context": with_context,
        "language pairs": dict(sorted(pairs.items())),
        "systems": dict(sorted(systems.items())),
        "domains": dict(sorted(domains.items())),
        "pairs by kind": dict(sorted(kinds.items())),
        "pairs by category": dict(sorted(categories.items())),
        "data report": manifest.get("data_report", {}),
    }
