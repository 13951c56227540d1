"""Prompt sets as directories: ``manifest.toml`` with templates, examples and a schema beside it.

The manifest must have ``name``, ``version``, ``description``, ``unit`` (segment, document) and ``output``
(mqm, number, esa). It may have ``needs``, ``format`` (text, json), ``template`` (jinja, dollar),
``citation``, ``max_tokens``, ``typical_tokens``, ``classes``, ``severities``, ``[labels]`` (values by name),
``[languages]`` (names by tag) and ``[score]``: for mqm ``weights`` (those left out are MQM's), ``cap``,
``most_errors`` and ``critical_classes``, otherwise ``minimum``, ``maximum`` and ``higher_is_better``.

``user.md`` is the message, ``system.md`` may stand before it, then the examples of ``few_shot.json``;
``schema.json`` allows answers in JSON, which the templates ask for where ``structured`` holds.
"""

from __future__ import annotations

import re
import tomllib
from typing import cast, get_args

from challenge_sets import MARKED_SEVERITIES, InputError, Unit
from challenge_sets.languages import normalise_language
from challenge_sets.records import Severity
from metrics.base import NEEDS, Need
from metrics.judges.checks import check_step
from metrics.judges.examples import read_schema, read_shots
from metrics.judges.forms import MQM_WEIGHTS, Form, FormKind, Scoring
from metrics.judges.jinja_templates import JinjaTemplate
from metrics.judges.prompt_files import Folder, Table
from metrics.judges.steps import PromptSet, Step
from metrics.judges.templates import Needs, Template, dollar_template

MANIFEST, SYSTEM, USER = "manifest.toml", "system.md", "user.md"

_KEYS = (
    "name",
    "version",
    "description",
    "citation",
    "unit",
    "needs",
    "output",
    "format",
    "template",
    "classes",
    "severities",
    "labels",
    "score",
    "max_tokens",
    "typical_tokens",
    "languages",
)
_PENALTY_KEYS = ("weights", "cap", "most_errors", "critical_classes")
_NUMBER_KEYS = ("minimum", "maximum", "higher_is_better")
_TYPICAL_TOKENS = {"mqm": 80, "number": 5, "esa": 90}
_MAX_TOKENS = {"mqm": 2048, "number": 256, "esa": 2048}


def read_directory(folder: Folder, manifest: str = MANIFEST) -> PromptSet:
    """Read a prompt set and check all of it. ``InputError`` names file, line or key, and what is wrong."""
    table = _manifest(folder, manifest)
    table.only(_KEYS)
    name = table.string("name")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        table.refuse("name", "is made of letters, digits, '.', '_' and '-'")
    needs = _needs(table)
    form = _form(table)
    score = table.table("score")
    syntax = table.choice("template", ("jinja", "dollar"), "jinja")
    if syntax == "dollar" and "document" in needs:
        table.refuse("template", "is 'dollar', which has no segments; documents need 'jinja'")
    user_path, system_path = folder.path / USER, folder.path / SYSTEM
    user, system = _template(folder, USER, syntax, needs), None
    if folder.has(SYSTEM):
        system = _template(folder, SYSTEM, syntax, needs)
    schema = read_schema(folder)
    shots = read_shots(folder, form, needs, with_json=schema is not None or form.json)
    step = Step(form, user, needs, schema, system, shots)
    check_step(step, system_path, user_path)
    max_tokens = table.count("max_tokens", _MAX_TOKENS[form.kind])
    typical_tokens = table.count("typical_tokens", min(_TYPICAL_TOKENS[form.kind], max_tokens or 1))
    if max_tokens is None or typical_tokens is None or typical_tokens > max_tokens:
        table.refuse("typical_tokens", f"is {typical_tokens}, more than max_tokens ({max_tokens})")
    return PromptSet(
        name=name,
        version=table.string("version"),
        description=table.string("description"),
        citation=table.string("citation", ""),
        unit=cast(Unit, table.string("unit")),
        needs=needs,
        higher_is_better=form.kind != "mqm" and score.flag("higher_is_better", True),
        steps=(step,),
        scoring=_scoring(score, form) if form.kind == "mqm" else None,
        max_tokens=max_tokens,
        typical_tokens=typical_tokens,
        languages=_languages(table.table("languages")),
    )


def _manifest(folder: Folder, name: str) -> Table:
    text = folder.text(name)
    path = folder.path / name
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(place[1]) if place else None
        raise InputError(f"broken TOML: {error}", path=path, line=line) from error
    return Table(values, text, path)


def _needs(table: Table) -> Needs:
    unit = table.choice("unit", get_args(Unit))
    needs = frozenset(cast(tuple[Need, ...], table.strings("needs", allowed=NEEDS)))
    if (unit == "document") != ("document" in needs):
        table.refuse("needs", "has 'document' where the unit is 'document', and only there")
    if unit == "document" and "context" in needs:
        table.refuse("needs", "has 'context', and a document comes without earlier turns")
    return needs


def _form(table: Table) -> Form:
    kind = cast(FormKind, table.choice("output", get_args(FormKind)))
    as_json = table.choice("format", ("text", "json"), "text") == "json"
    if kind == "number":
        for key in ("classes", "severities", "labels"):
            if key in table:
                table.refuse(key, "belongs to prompt sets that mark errors, this one asks for a number")
    score = table.table("score")
    allowed = {"mqm": _PENALTY_KEYS, "number": _NUMBER_KEYS, "esa": _NUMBER_KEYS}[kind]
    score.only(allowed, f"is no setting of the score of output '{kind}'")
    minimum, maximum = score.number("minimum", 0.0), score.number("maximum", 100.0)
    if minimum is None or maximum is None or minimum >= maximum:
        score.refuse("minimum", f"is {minimum:g}, which is not below the maximum ({maximum:g})")
    worst_first = tuple(reversed(MARKED_SEVERITIES))
    severities = worst_first[1:] if kind == "esa" else worst_first
    labels = table.table("labels")
    for label in labels:
        if not labels.strings(label):
            labels.refuse(label, "must list the values that it may take")
    return Form(
        kind,
        as_json,
        minimum,
        maximum,
        cast(tuple[Severity, ...], table.strings("severities", severities, MARKED_SEVERITIES)),
        table.strings("classes"),
        {label: labels.strings(label) for label in labels},
    )


def _scoring(score: Table, form: Form) -> Scoring:
    weights = score.table("weights")
    weights.only(MARKED_SEVERITIES, "is no severity")
    given = {name: weights.number(name, None) for name in weights}
    for name, weight in given.items():
        if weight is None or weight < 0:
            weights.refuse(name, "must be a number from 0")
    critical = score.strings("critical_classes", allowed=form.classes)
    cap = score.number("cap", None)
    if cap is not None and cap <= 0:
        score.refuse("cap", "must be above 0")
    return Scoring(
        cast(dict[Severity, float], {**MQM_WEIGHTS, **given}),
        cap,
        score.count("most_errors", None),
        critical,
    )


def _template(folder: Folder, name: str, syntax: str, needs: Needs) -> Template:
    path = folder.path / name
    # Editors end files with a line end that is not meant to be part of a message.
    text = folder.text(name).removesuffix("\n")
    if not text.strip():
        raise InputError("is empty", path=path)
    return JinjaTemplate(text, path) if syntax == "jinja" else dollar_template(text, path, needs)


def _languages(table: Table) -> dict[str, str]:
    names = {}
    for spelling in table:
        name = table.string(spelling)
        if not name.isprintable():
            table.refuse(spelling, "must be a name on one line")
        names[normalise_language(spelling)] = name
    return names
