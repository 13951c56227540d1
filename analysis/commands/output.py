"""What every command does with its result: files where a folder was named, then JSON or text on stdout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.printing.files import as_terminal_text, print_json, print_text, write_report
from analysis.printing.render import Report

Out = Annotated[Path | None, typer.Option(help="Also write NAME.md, .csv, .tex and .json into this folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the JSON document alone.")]


def deliver(
    name: str,
    report: Report,
    records: Sequence[Mapping[str, object]],
    document: Mapping[str, Any],
    *,
    out: Path | None,
    as_json: bool,
    more: Iterable[str] = (),
    long: bool = False,
) -> None:
    """Write the four files into ``out`` if given, then print ``document`` or the report's short sheets.

    ``long`` prints the long sheets as well.
    """
    paths = [] if out is None else write_report(out, name, report, records, document)
    if as_json:
        print_json(document)
    else:
        print_text(as_terminal_text(report, more=more, long=long), *paths)
