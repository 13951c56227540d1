"""Where prompt sets come from: a directory, the bundled ones, or the installed gemba package."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from challenge_sets import InputError
from metrics.judges.benchmark_layout import is_benchmark_layout, read_benchmark_layout
from metrics.judges.gemba_prompts import GEMBA_NAMES, gemba
from metrics.judges.manifests import MANIFEST, read_directory
from metrics.judges.prompt_files import Folder
from metrics.judges.steps import Prompt, PromptSet, Shot, Step
from metrics.judges.templates import Inputs, Text

__all__ = [
    "GEMBA_NAMES",
    "Inputs",
    "Prompt",
    "PromptSet",
    "Shot",
    "Step",
    "Text",
    "bundled",
    "bundled_names",
    "gemba",
    "read_prompt_set",
]

_BUNDLED = Path(__file__).parent / "prompts"
_WITH_REFERENCE = "with-reference.toml"


def read_prompt_set(directory: str | Path) -> PromptSet:
    """Read the prompt set of a directory, in our layout or in that of the Korean context benchmark.

    Raises ``InputError`` for anything that could only go wrong once answers are paid for: it names the file,
    the line or the key.
    """
    folder = Folder.of(directory)
    if not folder.has(MANIFEST) and is_benchmark_layout(folder):
        return read_benchmark_layout(folder)
    return read_directory(folder)


def bundled_names() -> tuple[str, ...]:
    """Names of the prompt sets that come with the package, each also with a reference (``…-ref``)."""
    return tuple(
        name + suffix
        for name in ("mqm", "mqm-context", "da", "esa", "document-da")
        for suffix in ("", "-ref")
    )


@lru_cache(maxsize=32)
def bundled(name: str) -> PromptSet:
    """A prompt set that comes with the package; ``InputError`` for another name."""
    if name not in bundled_names():
        near = get_close_matches(name, bundled_names(), n=1)
        raise InputError(
            f"there is no prompt set '{name}'" + (f", did you mean '{near[0]}'?" if near else ""),
            hint=f"there are: {', '.join((*bundled_names(), *GEMBA_NAMES))}, or a directory",
        )
    # The two of a kind share their files: templates ask whether there is a reference.
    directory = Folder(_BUNDLED / name.removesuffix("-ref"))
    return read_directory(directory, _WITH_REFERENCE if name.endswith("-ref") else MANIFEST)
