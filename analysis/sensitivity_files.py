"""The sensitivity table as files, and as text for a terminal."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from analysis.latex import to_latex
from analysis.render import to_csv, to_markdown, to_text
from analysis.sensitivity import SensitivityTable
from analysis.sensitivity_layout import as_json, as_records, as_report, missing_lines
from challenge_sets.files import atomic_file, dump_json

NAME = "sensitivity"


def write_tables(table: SensitivityTable, out: Path) -> list[Path]:
    """Write ``sensitivity.md``, ``.csv``, ``.tex``, ``.json`` into ``out``, all or none; return the paths."""
    report = as_report(table)
    records = as_records(table)
    texts = {
        "md": to_markdown(report),
        "csv": to_csv(list(records[0]), records),
        "tex": to_latex(report),
        "json": dump_json(as_json(table), indent=1) + "\n",
    }
    paths = [out / f"{NAME}.{suffix}" for suffix in texts]
    with ExitStack() as stack:
        for path, text in zip(paths, texts.values(), strict=True):
            stack.enter_context(atomic_file(path)).write(text)
    return paths


def as_terminal_text(table: SensitivityTable) -> str:
    """The matrices with their legend; the full cells are in the files."""
    report = as_report(table)
    matrices = [sheet for sheet in report.sheets if not sheet.long]
    sentences = dict.fromkeys(sentence for sheet in matrices for sentence in sheet.caption)
    legend = [f"{mark} {meaning}" for mark, meaning in report.legend]
    sentences |= dict.fromkeys(missing_lines(table))
    blocks = [report.title, *map(to_text, matrices), "\n".join(legend), "\n".join(sentences)]
    return "\n\n".join(blocks) + "\n"
