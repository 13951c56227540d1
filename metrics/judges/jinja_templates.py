"""Jinja templates that can print, test and loop over what they are given, and do nothing else.

Every construct is checked when the template is read: what is not on the list cannot run, so that a template
neither reaches into Python nor runs without end. Texts are handed over as objects that can only be put out.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from challenge_sets import InputError, MissingExtraError
from metrics.base import Need
from metrics.judges.templates import Inputs, Needs, Piece, Text, not_needed, reference_text, unknown_name

NAMES = (
    "source_lang",
    "target_lang",
    "structured",
    "needs",
    "source",
    "translation",
    "reference",
    "context",
    "segments",
)
"""What templates can use. ``structured`` says that JSON is asked for, ``needs`` lists what there is."""
_NEEDED: Mapping[str, Need] = {
    "source": "source",
    "reference": "reference",
    "context": "context",
    "segments": "document",
}

_CONSTRUCTS = {
    "Template",
    "Output",
    "TemplateData",
    "Name",
    "Const",
    "Getattr",
    "Getitem",
    "Slice",
    "Neg",
    "For",
    "If",
    "CondExpr",
    "And",
    "Or",
    "Not",
    "Compare",
    "Operand",
    "Test",
    "Filter",
}
_FILTERS = ("default", "length", "count", "first", "last")
_TESTS = ("defined", "undefined", "none")
_MOST_NESTED_LOOPS = 2
_MOST_CHARACTERS = 4 << 20
_MARK = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class JinjaTemplate:
    """A checked template. Raises ``InputError`` where it is none; errors name the file and the line."""

    text: str
    path: Path

    def __post_init__(self) -> None:
        if "\ue000" in self.text or "\ue001" in self.text:
            raise InputError("U+E000 and U+E001 cannot stand in a template", path=self.path)
        _check(self)

    @property
    def syntax(self) -> str:
        """Which kind of template it is."""
        return "jinja"

    def render(self, inputs: Inputs, needs: Needs, structured: bool) -> list[Piece]:
        """Render with a stand-in for each text, then put the texts in the places of their stand-ins."""
        texts: list[Text] = []
        values: dict[str, Any] = {
            "source_lang": inputs.source_lang,
            "target_lang": inputs.target_lang,
            "structured": structured,
            "needs": needs,
            **_values(inputs, needs, texts),
        }
        words: list[str] = []
        size = 0
        try:
            for part in _compiled(self.text).generate(values):
                words.append(part)
                size += len(part)
                if size > _MOST_CHARACTERS:
                    self._refuse(f"the template gives more than {_MOST_CHARACTERS:,} characters", None)
        except InputError:
            raise
        except Exception as error:
            self._refuse(self._problem(error, needs), error)
        # A message does not end in the line end that a closing tag leaves behind.
        return _pieces("".join(words).removesuffix("\n"), texts)

    def line_of(self, name: str) -> int | None:
        """Line of the first use of a name, or of an attribute of this name."""
        from jinja2 import nodes

        found = [
            node.lineno
            for node in _parsed(self.text).find_all((nodes.Name, nodes.Getattr))
            if name in (getattr(node, "name", None), getattr(node, "attr", None))
        ]
        return min(found, default=None)

    def _problem(self, error: Exception, needs: Needs) -> str:
        for name, need in _NEEDED.items():
            if need not in needs and f"'{name}'" in str(error):
                return not_needed(f"'{name}'", need)
        for name in ("source", "translation", "reference"):
            if "document" in needs and f"'{name}' is undefined" in str(error):
                return f"the template of a document uses '{name}': take that of each of the segments"
        return f"the template does not work: {error}"

    def _refuse(self, problem: str, error: Exception | None) -> NoReturn:
        frames = traceback.extract_tb(error.__traceback__) if error is not None else ()
        lines = [frame.lineno for frame in frames if frame.filename == "<template>"]
        raise InputError(problem, path=self.path, line=lines[-1] if lines else None) from error


def _check(template: JinjaTemplate) -> None:
    """Refuse what the template must not hold, before it is compiled."""
    from jinja2 import TemplateSyntaxError, nodes

    def refuse(problem: str, node: nodes.Node) -> NoReturn:
        raise InputError(problem, path=template.path, line=node.lineno)

    try:
        tree = _parsed(template.text)
        every = list(_walk(tree, 0))
    except TemplateSyntaxError as error:
        raise InputError(
            f"broken template: {error.message}", path=template.path, line=error.lineno
        ) from error
    except RecursionError as error:
        raise InputError("the template is nested too deeply", path=template.path) from error
    bound = {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
    known = dict.fromkeys(NAMES)
    for node, loops in every:
        kind = type(node).__name__
        if kind not in _CONSTRUCTS:
            refuse(f"a template prints, tests and loops, it cannot hold '{kind}'", node)
        if isinstance(node, nodes.Name) and node.ctx == "load" and node.name not in known:
            if node.name == "loop" or node.name in bound:
                continue
            raise unknown_name(f"'{node.name}'", node.name, known, template.path, node.lineno)
        if isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
            refuse(f"a template cannot use the attribute '{node.attr}'", node)
        if isinstance(node, nodes.Getitem) and isinstance(getattr(node.arg, "value", None), str):
            refuse("write names after a dot, not in brackets", node)
        if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
            refuse(f"the filter '{node.name}' would change a text; there are: {', '.join(_FILTERS)}", node)
        if isinstance(node, nodes.Test) and node.name not in _TESTS:
            refuse(f"there is no test '{node.name}'; there are: {', '.join(_TESTS)}", node)
        if isinstance(node, nodes.For):
            over = node.iter.node if isinstance(node.iter, nodes.Getitem) else node.iter
            if not isinstance(over, nodes.Name) or over.name not in ("context", "segments"):
                refuse("a loop goes over 'context' or 'segments', or a slice of them", node)
            if node.recursive or loops >= _MOST_NESTED_LOOPS:
                refuse(f"loops nest at most {_MOST_NESTED_LOOPS} deep and do not recurse", node)


def _walk(node: Any, loops: int) -> Iterator[tuple[Any, int]]:
    """All nodes, each with the number of loops around it."""
    yield node, loops
    inner = loops + (type(node).__name__ == "For")
    for child in node.iter_child_nodes():
        yield from _walk(child, inner)


class _Held:
    """A text as a template sees it: it can be put out, and is there; nothing else can be done with it."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a text can only be put out as it is, or tested for being there")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __str__ = __repr__ = __len__ = __iter__ = __contains__ = __getitem__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return True


def _put_out(value: object) -> str:
    """What stands in the output for a value of the template."""
    if isinstance(value, _Held):
        return f"\ue000{value._number}\ue001"
    if isinstance(value, str) and "\ue000" not in value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        return str(value)  # raises, and says which name is missing
    raise TypeError(f"{'nothing is there' if value is None else type(value).__name__} to be put out")


def _values(inputs: Inputs, needs: Needs, texts: list[Text]) -> dict[str, Any]:
    def held(name: str, text: str) -> _Held:
        texts.append(Text(name, text))
        return _Held(len(texts) - 1)

    if "document" in needs:
        segments = []
        for segment in inputs.segments:
            fields = {"translation": held("translation", segment.hypothesis)}
            if "source" in needs:
                fields["source"] = held("source", segment.source)
            if "reference" in needs:
                one = Inputs("", "", reference=segment.reference)
                fields["reference"] = held(*reference_text(one))
            segments.append(fields)
        return {"segments": segments}
    values: dict[str, Any] = {"translation": held("translation", inputs.hypothesis)}
    if "source" in needs:
        values["source"] = held("source", inputs.source)
    if "reference" in needs:
        values["reference"] = held(*reference_text(inputs))
    if "context" in needs:
        values["context"] = [
            {
                "speaker": held("speaker", turn.speaker),
                "time": held("time", turn.time) if turn.time else None,
                "text": held("context", turn.text),
            }
            for turn in inputs.context
        ]
    return values


def _pieces(rendered: str, texts: list[Text]) -> list[Piece]:
    pieces: list[Piece] = []
    for place, part in enumerate(_MARK.split(rendered)):
        pieces.append(texts[int(part)] if place % 2 else part)
    return pieces


@lru_cache(maxsize=1)
def _environment() -> Any:
    try:
        from jinja2 import StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError as error:
        raise MissingExtraError("a prompt set with Jinja templates", "judge") from error
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=_put_out, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.globals.clear()
    environment.filters = {name: environment.filters[name] for name in _FILTERS}
    environment.tests = {name: environment.tests[name] for name in _TESTS}
    return environment


@lru_cache(maxsize=64)
def _parsed(source: str) -> Any:
    return _environment().parse(source)


@lru_cache(maxsize=64)
def _compiled(source: str) -> Any:
    return _environment().from_string(source)
