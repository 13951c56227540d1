"""What goes wrong outside the program, said so that the reader can mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class InputError(ValueError):
    """Wrong input or wrong use: the command ends with exit code 2 and leaves no output behind.

    ``path`` and ``line`` (1-based) say where, ``hint`` says what to do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = path
        self.line = line
        self.hint = hint
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{where}{problem}" + (f"\n  {hint}" if hint else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors come back from worker processes; by default only the message would be handed to __init__.
        return _restore, (type(self), self.args, self.__dict__)


class MissingExtraError(InputError):
    """Something needs an optional dependency; ``hint`` is the exact line that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{what} needs the optional dependency '{extra}'",
            hint=f'install it: pip install "mt-blindspots[{extra}]"',
        )


def _restore(cls: type[InputError], args: tuple[Any, ...], state: dict[str, Any]) -> InputError:
    error = cls.__new__(cls, *args)
    error.__dict__.update(state)
    return error
