"""Command line of the analyses: one module a command, loaded here, heavy work imported inside each."""

from __future__ import annotations

import typer

from analysis.commands.agreement import agreement
from analysis.commands.equivalence import equivalence
from analysis.commands.errors import errors
from analysis.commands.mixed_model import mixed_model
from analysis.commands.ranking import ranking
from analysis.commands.sensitivity import sensitivity
from analysis.commands.tables import tables

app = typer.Typer(
    help="Turn scores into estimates, tests, tables and verdicts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _analysis() -> None:
    """Turn scores into estimates, tests, tables and verdicts."""


app.command()(agreement)
app.command()(equivalence)
app.command()(errors)
app.command()(mixed_model)
app.command()(ranking)
app.command()(sensitivity)
app.command()(tables)
