"""What a prompt is filled with, and templates that put texts into place without ever looking into them.

A template renders to pieces: its own words, and texts by name. The words are trusted, the texts are not;
they are joined in one pass only when the fences around them are known to hold (``fences.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, Protocol

from challenge_sets import InputError, Turn
from metrics.base import NEEDS, Need
from metrics.requests import Segment


@dataclass(frozen=True, slots=True)
class Inputs:
    """What one prompt is filled with. Languages are names (``PromptSet.language``), the rest is untrusted.

    ``context`` holds the earlier turns, oldest first, in the source language; ``segments`` the document, for
    sets that judge documents; ``earlier`` the answer of the step before, without white space around it.
    """

    source_lang: str
    target_lang: str
    source: str = ""
    hypothesis: str = ""
    reference: str | None = None
    context: tuple[Turn, ...] = ()
    segments: tuple[Segment, ...] = ()
    earlier: str = ""


class Text(NamedTuple):
    """An untrusted text, and what a template calls it."""

    name: str
    text: str


Piece = str | Text
Needs = frozenset[Need]


class Template(Protocol):
    """Words with places for texts. ``text`` is the template itself, ``syntax`` how to read it."""

    @property
    def text(self) -> str:
        """The template as it was written."""

    @property
    def syntax(self) -> str:
        """Which kind of template it is."""

    def render(self, inputs: Inputs, needs: Needs, structured: bool) -> list[Piece]:
        """The pieces for these inputs; only what ``needs`` lists is there to be used."""

    def line_of(self, name: str) -> int | None:
        """Line (from 1) of the first place that uses a name."""


@dataclass(frozen=True, slots=True)
class PlaceholderTemplate:
    """A template whose only device is a name in braces: ``${name}`` or ``{name}``."""

    text: str
    syntax: str
    parts: tuple[tuple[str, str | None], ...]
    """Words, each with the name of the placeholder after them."""
    means: Mapping[str, str]
    """What each placeholder stands for, by our own name of it."""

    def render(self, inputs: Inputs, needs: Needs, structured: bool) -> list[Piece]:
        """Fill the placeholders; there is no other form of the text for structured answers."""
        pieces: list[Piece] = []
        for words, name in self.parts:
            pieces.append(words)
            if name is not None:
                pieces += _VALUES[self.means[name]](inputs)
        return pieces

    def line_of(self, name: str) -> int | None:
        """Line of the first placeholder that stands for this."""
        line = 1
        for words, placeholder in self.parts:
            line += words.count("\n")
            if placeholder is not None and name in (placeholder, self.means[placeholder]):
                return line
        return None


def reference_text(inputs: Inputs) -> Text:
    """The reference; ``ValueError`` where there is none."""
    if inputs.reference is None:
        raise ValueError("a prompt with a reference was asked for a text without one")
    return Text("reference", inputs.reference)


def context_block(inputs: Inputs) -> list[Piece]:
    """One line a turn, from 1: ``1. [other, 10s ago] text``, ``1. [other] text`` without a time."""
    pieces: list[Piece] = []
    for number, turn in enumerate(inputs.context, 1):
        pieces += [f"{'' if number == 1 else chr(10)}{number}. [", Text("speaker", turn.speaker)]
        if turn.time:
            pieces += [", ", Text("time", turn.time)]
        pieces += ["] ", Text("context", turn.text)]
    return pieces


_VALUES: Mapping[str, Callable[[Inputs], list[Piece]]] = {
    "source_lang": lambda inputs: [inputs.source_lang],
    "target_lang": lambda inputs: [inputs.target_lang],
    "source": lambda inputs: [Text("source", inputs.source)],
    "translation": lambda inputs: [Text("translation", inputs.hypothesis)],
    "reference": lambda inputs: [reference_text(inputs)],
    "context": context_block,
    "earlier": lambda inputs: [Text("earlier", inputs.earlier)],
}

_DOLLAR: Mapping[str, str] = {
    "sourceLanguageLabel": "source_lang",
    "targetLanguageLabel": "target_lang",
    "contextBlock": "context",
    "currentSource": "source",
    "translation": "translation",
    "reference": "reference",
}


def dollar_template(text: str, path: Path, needs: Needs) -> PlaceholderTemplate:
    """A template with the placeholders of the Korean context benchmark, and two more.

    They are written ``${name}``; every other dollar sign is itself. ``InputError`` with the line for an
    unknown name, and for one that stands for what the prompt set does not need.
    """
    parts: list[tuple[str, str | None]] = []
    done = 0
    for match in re.finditer(r"\$\{([^{}\n]*)\}", text):
        name = match[1]
        line = text.count("\n", 0, match.start()) + 1
        if name not in _DOLLAR:
            raise unknown_name(f"${{{name}}}", name, _DOLLAR, path, line)
        if _DOLLAR[name] in NEEDS and _DOLLAR[name] not in needs:
            raise InputError(not_needed(f"${{{name}}}", _DOLLAR[name]), path=path, line=line)
        parts.append((text[done : match.start()], name))
        done = match.end()
    parts.append((text[done:], None))
    return PlaceholderTemplate(text, "dollar", tuple(parts), _DOLLAR)


def not_needed(spelled: str, need: str) -> str:
    """What to say of a name that stands for something the prompt set does not need."""
    return f"the template uses {spelled}, and the manifest does not say that the prompt set needs '{need}'"


def unknown_name(
    spelled: str, name: str, known: Mapping[str, object], path: Path, line: int | None
) -> InputError:
    """The error for a name that templates do not have."""
    near = get_close_matches(name, known, n=1)
    guess = f", did you mean '{near[0]}'?" if near else ""
    return InputError(
        f"the template uses {spelled}, which is nothing that it can use{guess}",
        path=path,
        line=line,
        hint=f"there are: {', '.join(known)}",
    )
