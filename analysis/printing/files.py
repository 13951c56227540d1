"""An analysis as files and on stdout: the same four formats for every command."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from analysis.printing.latex import to_latex
from analysis.printing.render import Report, to_csv, to_markdown, to_text
from challenge_sets.files import atomic_file, dump_json


def write_report(
    out: Path,
    name: str,
    report: Report,
    records: Sequence[Mapping[str, object]],
    document: Mapping[str, Any],
) -> list[Path]:
    """Write ``NAME.md``, ``.csv``, ``.tex``, ``.json`` into ``out``, all or none; return the paths.

    ``records`` are the rows of the CSV file, all with the keys of the first; ``document`` is the JSON object.
    """
    texts = {
        "md": to_markdown(report),
        "csv": to_csv(list(records[0]), records) if records else "",
        "tex": to_latex(report),
        "json": dump_json(document, indent=1) + "\n",
    }
    paths = [out / f"{name}.{suffix}" for suffix in texts]
    with ExitStack() as stack:
        for path, text in zip(paths, texts.values(), strict=True):
            stack.enter_context(atomic_file(path)).write(text)
    return paths


def as_terminal_text(report: Report, *, more: Iterable[str] = (), long: bool = False) -> str:
    """The short sheets with their legend and captions, then ``more`` sentences.

    Long sheets are for files, unless ``long`` is true.
    """
    short = [sheet for sheet in report.sheets if long or not sheet.long]
    sentences = dict.fromkeys(sentence for sheet in short for sentence in sheet.caption)
    sentences |= dict.fromkeys(more)
    legend = [f"{mark} {meaning}" for mark, meaning in report.legend]
    blocks = [report.title, *map(to_text, short), "\n".join(legend), "\n".join(sentences)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON object to stdout, in UTF-8 wherever it goes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    print(dump_json(document, indent=1))


def print_text(*blocks: object) -> None:
    """Print text to stdout; a terminal without our marks shows others in their place."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    for block in blocks:
        print(block)
