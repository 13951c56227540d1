"""Command line of ``perturb``: list the categories, build a set."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from challenge_sets import InputError
from challenge_sets.files import dump_json
from challenge_sets.languages import normalise_language, split_pair

app = typer.Typer(
    help="Makes challenge sets: minimal pairs with exactly one targeted edit.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

TargetLang = Annotated[str | None, typer.Option(help="Target language, e.g. en, de, ja, zh-Hans.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@app.command("list")
def list_categories(target_lang: TargetLang = None, as_json: AsJson = False) -> None:
    """List the categories: kind, severity, languages, what each needs."""
    from perturb.base import PERTURBATIONS

    tag = normalise_language(target_lang) if target_lang else None
    rows: list[dict[str, Any]] = []
    for name in PERTURBATIONS:
        cls = PERTURBATIONS[name]
        if tag is None or cls().supports(tag):
            rows.append(
                {
                    "category": name,
                    "kind": cls.kind,
                    "severity": cls.severity,
                    "languages": list(cls.languages) or ["any"],
                    "needs": sorted(cls.needs if tag is None else cls.needs_in(tag)),
                    "version": cls.version,
                    "description": cls.description,
                }
            )
    if as_json:
        typer.echo(dump_json(rows, indent=1))
        return
    for row in rows:
        languages, needs = ",".join(row["languages"]), ",".join(row["needs"]) or "-"
        typer.echo(
            f"{row['category']:24} {row['kind']:10} {row['severity']:9} {languages:18} {needs:20} "
            f"{row['description']}"
        )


@app.command()
def build(
    format: Annotated[
        str, typer.Option(help="Format of the input: text, tsv, csv, jsonl, mtme, korean-context, demetr.")
    ],
    out: Annotated[Path, typer.Option(help="Set directory to write.")],
    input: Annotated[Path | None, typer.Option(help="File or folder to read (not for text).")] = None,
    lang_pair: Annotated[str | None, typer.Option(help="SOURCE-TARGET, e.g. en-de.")] = None,
    source_lang: Annotated[str | None, typer.Option(help="Source language.")] = None,
    target_lang: TargetLang = None,
    systems: Annotated[str | None, typer.Option(help="Systems to perturb, comma-separated.")] = None,
    categories: Annotated[str | None, typer.Option(help="Categories to make, comma-separated.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N items.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.")] = 0,
    columns: Annotated[
        str | None, typer.Option(help="tsv, csv, jsonl: FIELD=COLUMN, comma-separated.")
    ] = None,
    src: Annotated[Path | None, typer.Option(help="text: source file, one segment a line.")] = None,
    hyp: Annotated[list[str] | None, typer.Option(help="text: SYSTEM=FILE, once a system.")] = None,
    ref: Annotated[Path | None, typer.Option(help="text: reference file.")] = None,
    docs: Annotated[Path | None, typer.Option(help="text: document of each segment.")] = None,
    reference: Annotated[str | None, typer.Option(help="mtme: which of several references.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; all processors by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read translations, perturb them, write a set directory."""
    from challenge_sets.parallel import default_workers
    from challenge_sets.readers import READERS, ReadOptions
    from perturb.build import Recipe
    from perturb.build import build as build_set

    if lang_pair and (source_lang or target_lang):
        raise InputError("give --lang-pair, or --source-lang and --target-lang, not both")
    source, target = split_pair(lang_pair) if lang_pair else (None, None)
    reader = READERS[format](
        ReadOptions(
            input=input,
            source_lang=normalise_language(source_lang) if source_lang else source,
            target_lang=normalise_language(target_lang) if target_lang else target,
            columns=_assignments(columns.split(",") if columns else [], "--columns", "FIELD=COLUMN"),
            source_file=src,
            hypotheses={
                system: Path(file) for system, file in _assignments(hyp or [], "--hyp", "SYSTEM=FILE").items()
            },
            reference_file=ref,
            documents_file=docs,
            reference=reference,
        )
    )
    recipe = Recipe(_names(categories), _names(systems), limit, seed)
    report = build_set(reader, recipe, out, workers=workers or default_workers())
    if as_json:
        typer.echo(dump_json({"set": str(out), "categories": report.to_json()}, indent=1))
        return
    width = max(map(len, report.pairs), default=0) + 2
    for category, made in report.pairs.items():
        reasons = report.reasons.get(category, Counter()).most_common(3)
        why = "; ".join(f"{reason} ({times})" for reason, times in reasons)
        typer.echo(f"{category:{width}}{made:8}{'   not applied: ' if why else ''}{why}")
    for why in dict.fromkeys(report.skipped.values()):
        names = (category for category, reason in report.skipped.items() if reason == why)
        typer.echo(f"left out, {why}: {', '.join(names)}")
    typer.echo(f"{report.pairs.total()} pairs in {out}")


def _names(listed: str | None) -> tuple[str, ...] | None:
    if listed is None:
        return None
    names = (name.strip() for name in listed.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _assignments(given: list[str], option: str, form: str) -> dict[str, str]:
    """Parse ``NAME=VALUE`` arguments; a name given twice or half an assignment is an ``InputError``."""
    parsed: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} {text!r} is not of the form {form}")
        if name in parsed:
            raise InputError(f"{option}: '{name}' is given twice")
        parsed[name] = value
    return parsed
