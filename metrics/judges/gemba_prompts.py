"""GEMBA's own prompts (Kocmi and Federmann 2023; Kocmi et al. 2024), read from the installed package.

The package is neither imported nor run: its files are parsed and only literal values are taken. The texts
stay where they are, nothing of them is part of this project.
"""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from challenge_sets import InputError
from challenge_sets.languages import normalise_language
from metrics.judges.forms import Form, Scoring
from metrics.judges.prompt_files import Folder
from metrics.judges.steps import PromptSet, Shot, Step
from metrics.judges.templates import Needs, PlaceholderTemplate

GEMBA_NAMES = ("gemba-da", "gemba-da-ref", "gemba-mqm", "gemba-mqm-ref", "gemba-esa")
INSTALL = "pip install --no-deps gemba==0.1.3"

_PLACEHOLDERS: Mapping[str, str] = {
    "source_lang": "source_lang",
    "target_lang": "target_lang",
    "source_seg": "source",
    "target_seg": "translation",
    "reference_seg": "reference",
    "error_spans": "earlier",
}
_SOURCE: Needs = frozenset(("source",))
_REFERENCE: Needs = frozenset(("source", "reference"))
_TRANSLATION_LINE = "{target_lang} translation:\n"
_REFERENCE_BLOCK = "{target_lang} human reference:\n```{reference_seg}```\n"
_BUDGET, _LARGE_BUDGET = 500, 4000
"""The package asks for 500 tokens and doubles that after a cut, up to 4,000."""


@lru_cache(maxsize=8)
def gemba(name: str) -> PromptSet:
    """One of ``GEMBA_NAMES``, with the prompts of the installed package.

    Raises ``InputError`` for another name, without the package, or where its files do not hold what they
    should. Error penalties count as in the package: the worst five, at most 25, non-translations critical.
    """
    if name not in GEMBA_NAMES:
        raise InputError(f"there is no prompt set '{name}'", hint=f"there are: {', '.join(GEMBA_NAMES)}")
    package = _Package.installed()
    prompts = package.module("prompt.py")
    if name in ("gemba-da", "gemba-da-ref"):
        steps, form = _direct_assessment(prompts, with_reference=name == "gemba-da-ref"), "number"
    elif name == "gemba-esa":
        steps, form = _error_spans(package.module("gemba_esa.py")), "number"
    else:
        steps = _mqm(package.module("gemba_mqm_utils.py"), with_reference=name == "gemba-mqm-ref")
        form = "mqm"
    ours = name == "gemba-mqm-ref"
    return PromptSet(
        name=name,
        version=package.version,
        description=_DESCRIPTIONS[name],
        citation="Kocmi et al. 2024" if name == "gemba-esa" else "Kocmi and Federmann 2023",
        unit="segment",
        needs=steps[0].needs,
        higher_is_better=form == "number",
        steps=steps,
        scoring=Scoring(cap=25.0, most_errors=5, critical_classes=("non-translation",))
        if form == "mqm"
        else None,
        max_tokens=_BUDGET if name.startswith("gemba-da") else _LARGE_BUDGET,
        typical_tokens={"gemba-da": 3, "gemba-da-ref": 3, "gemba-esa": 30}.get(name, 60),
        languages=_languages(prompts),
        origin=f"prompts of the installed package gemba {package.version}"
        + (", with a reference added by this project (the package has no such prompt)" if ours else ""),
    )


_DESCRIPTIONS = {
    "gemba-da": "GEMBA-DA: one number from 0 to 100, without a reference",
    "gemba-da-ref": "GEMBA-DA_ref: one number from 0 to 100, against a reference",
    "gemba-mqm": "GEMBA-MQM: errors by severity, three examples, without a reference",
    "gemba-mqm-ref": "ours, not GEMBA's: its MQM template with a reference put in; its examples have none",
    "gemba-esa": "GEMBA-ESA: error spans first, then a number from 0 to 100 in the light of them",
}


class _Module:
    """A parsed file of the package."""

    def __init__(self, path: Path, text: str, package_version: str) -> None:
        self._path = path
        self._version = package_version
        try:
            self._tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise self.refuse(f"is not Python ({error})") from error

    def refuse(self, problem: str) -> InputError:
        """The error that names the file and the version."""
        return InputError(
            f"gemba {self._version}: {problem}",
            path=self._path,
            hint=f"the prompts are known from: {INSTALL}",
        )

    def assigned(self, name: str, inside: str | None = None) -> ast.expr:
        """The value that a name is given at the top of the file, or of a function."""
        body: Sequence[ast.stmt] = self._tree.body
        if inside is not None:
            functions = (each for each in body if isinstance(each, ast.FunctionDef) and each.name == inside)
            function = next(functions, None)
            if function is None:
                raise self.refuse(f"there is no function '{inside}'")
            body = function.body
        for statement in body:
            if isinstance(statement, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == name for target in statement.targets
            ):
                return statement.value
        raise self.refuse(f"there is no '{name}'" + (f" in '{inside}'" if inside else ""))

    def literal(self, node: ast.expr, what: str) -> Any:
        """The value of a literal; an f-string without fields is one."""
        try:
            return ast.literal_eval(_PlainStrings().visit(node))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
            raise self.refuse(f"'{what}' is no plain value") from error

    def string(self, node: ast.expr, what: str) -> str:
        """The value of a literal string."""
        value = self.literal(node, what)
        if not isinstance(value, str):
            raise self.refuse(f"'{what}' is no string")
        return value


class _PlainStrings(ast.NodeTransformer):
    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        if len(parts) < len(node.values):
            return node
        return ast.copy_location(ast.Constant("".join(map(str, parts))), node)


class _Package:
    """The installed package: where its files are, and which version it is."""

    def __init__(self, folder: Folder, package_version: str) -> None:
        self._folder = folder
        self.version = package_version

    @classmethod
    def installed(cls) -> _Package:
        spec = find_spec("gemba")
        places = None if spec is None else spec.submodule_search_locations
        if not places:
            raise InputError(f"GEMBA's prompts are not installed: {INSTALL}")
        try:
            found = version("gemba")
        except PackageNotFoundError:
            found = "unknown version"
        return cls(Folder.of(places[0]), found)

    def module(self, name: str) -> _Module:
        return _Module(self._folder.path / name, self._folder.text(name), self.version)


def _direct_assessment(module: _Module, *, with_reference: bool) -> tuple[Step, ...]:
    name = "GEMBA-DA_ref" if with_reference else "GEMBA-DA"
    entry = _entry(module, module.assigned("prompts"), name)
    text = module.string(_entry(module, entry, "prompt"), name)
    needs = _REFERENCE if with_reference else _SOURCE
    # The reference stands in no quotation marks there.
    return (Step(Form("number"), _template(module, text, needs), needs, bare=True),)


def _entry(module: _Module, node: ast.expr, key: str) -> ast.expr:
    """The value of a key in a dictionary that also holds functions."""
    if isinstance(node, ast.Dict):
        for name, value in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return value
    raise module.refuse(f"there is no '{key}'")


def _mqm(module: _Module, *, with_reference: bool) -> tuple[Step, ...]:
    system, text, shots = _few_shot(module, "mqm_fewshot", "few_shots", "TEMPLATE_GEMBA_MQM")
    needs = _SOURCE
    if with_reference:
        if text.count(_TRANSLATION_LINE) != 1:
            raise module.refuse("the template has no line of its own for the translation")
        text = text.replace(_TRANSLATION_LINE, _REFERENCE_BLOCK + _TRANSLATION_LINE)
        needs = _REFERENCE
    return (Step(Form("mqm"), _template(module, text, needs), needs, system=system, shots=shots),)


def _error_spans(module: _Module) -> tuple[Step, ...]:
    system, text, shots = _few_shot(module, "esa_fewshot", "esa_few_shots", "TEMPLATE_GEMBA_ESA_ERROR_SPANS")
    ranking = "TEMPLATE_GEMBA_ESA_RANKING"
    second = _template(module, module.string(module.assigned(ranking), ranking), _SOURCE)
    if not any(name == "error_spans" for _, name in second.parts):
        raise module.refuse(f"'{ranking}' has no place for the error spans")
    return (
        Step(
            Form("mqm", severities=("major", "minor")),
            _template(module, text, _SOURCE),
            _SOURCE,
            system=system,
            shots=shots,
        ),
        Step(Form("number"), second, _SOURCE),
    )


def _few_shot(
    module: _Module, function: str, examples: str, template: str
) -> tuple[PlaceholderTemplate, str, tuple[Shot, ...]]:
    """System message, user template and examples, put together as the package does.

    The examples fill the same template, in the order in which the package lists them, each followed by its
    answer as it stands.
    """
    messages = module.literal(module.assigned("prompts", function), f"prompts in {function}")
    text = module.string(module.assigned("template", function), f"template in {function}")
    values = module.literal(module.assigned(examples), examples)
    try:
        (system,) = [message["content"] for message in messages]
        chosen = [values[key] for key in _listed(module.assigned(template))]
        shots = tuple(Shot(_filled(text, shot), str(shot["answer"])) for shot in chosen)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise module.refuse(f"'{function}' and '{examples}' are not what they were ({error!r})") from error
    if not shots:
        raise module.refuse(f"'{template}' lists no examples")
    return _template(module, str(system), None), text, shots


def _listed(node: ast.expr) -> Iterator[str]:
    """The keys in a call such as ``function([examples["a"], examples["b"]])``."""
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.List):
        for element in node.args[0].elts:
            if isinstance(element, ast.Subscript) and isinstance(element.slice, ast.Constant):
                yield str(element.slice.value)


def _parts(text: str) -> tuple[tuple[str, str | None], ...]:
    # Plain names only: str.format itself would follow attributes.
    parts = []
    for words, name, spec, conversion in string.Formatter().parse(text):
        if spec or conversion or (name is not None and not name.isidentifier()):
            raise ValueError(f"a placeholder that is more than a name: {name!r}")
        parts.append((words, name))
    return tuple(parts)


def _filled(text: str, values: Mapping[str, Any]) -> str:
    return "".join(words + ("" if name is None else str(values[name])) for words, name in _parts(text))


def _template(module: _Module, text: str, needs: Needs | None) -> PlaceholderTemplate:
    """A template of the package; without ``needs`` one that has no places for texts."""
    try:
        parts = _parts(text)
    except ValueError as error:
        raise module.refuse(f"a template cannot be read: {error}") from error
    names = [name for _, name in parts if name is not None]
    for name in names:
        if name not in _PLACEHOLDERS:
            raise module.refuse(f"a template asks for '{name}', which is not known")
    held = {_PLACEHOLDERS[name] for name in names}
    if needs is None and names:
        raise module.refuse("the system message has placeholders")
    for need in sorted(() if needs is None else needs | {"translation"}):
        if need not in held:
            raise module.refuse(f"a template has no place for the {need}")
    return PlaceholderTemplate(text, "format", parts, _PLACEHOLDERS)


def _languages(module: _Module) -> dict[str, str]:
    """The package's names of languages by our tags; it calls Chinese ``zh``, which is ``zh-Hans`` here."""
    codes = module.literal(module.assigned("language_codes"), "language_codes")
    if not isinstance(codes, dict) or not all(isinstance(name, str) for name in codes.values()):
        raise module.refuse("'language_codes' is no table of names")
    return {normalise_language(str(code)): name for code, name in codes.items()}
