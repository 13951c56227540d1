"""What every command line shares: errors as messages with an exit code, and progress on a terminal."""

from __future__ import annotations

import re
import shutil
import sqlite3
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from challenge_sets.errors import InputError

T = TypeVar("T")

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

EXIT_INPUT = 2
EXIT_MISSING_CELLS = 3


def run(app: Any) -> None:
    """Run a typer application; an ``InputError`` becomes its message on stderr and exit code 2."""
    try:
        app()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_INPUT)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing is wrong, nothing more can be said.
        sys.stderr.close()
        sys.exit(0)
    except (OSError, sqlite3.Error) as error:
        # A full disk, a folder without permission, a damaged store: nothing that the program got wrong.
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        print(f"error: {where}{getattr(error, 'strerror', None) or error}", file=sys.stderr)
        sys.exit(EXIT_INPUT)


def progress(items: Iterable[T], *, what: str, total: int | None = None) -> Iterable[T]:
    """Wrap an iterable in a progress bar on stderr; silent where stderr is no terminal."""
    if sys.stderr is None:
        return items
    from tqdm import tqdm

    # The width is asked for here because tqdm prints nothing to a terminal that does not know its own.
    width = shutil.get_terminal_size().columns
    bar: Iterable[T] = tqdm(
        items, desc=what, total=total, disable=None, file=sys.stderr, leave=False, ncols=width
    )
    return bar


def printable(text: str) -> str:
    """A text from outside as a terminal can show it; line ends and tabs stay.

    Escaped is what moves the cursor, changes colours, or turns the text around.
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def notice(text: str) -> None:
    """Say something on stderr in the middle of the work, without cutting into a progress bar."""
    if sys.stderr is not None:
        from tqdm import tqdm

        tqdm.write(text, file=sys.stderr)
