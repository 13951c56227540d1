"""Fixtures that every room's tests share: the public data, the shared cases, a command runner."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"


def _shared(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        message = f"the public test data is absent: {folder}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of real public data; fails where CI=true and it is absent, else skips."""
    return _shared("data")


@pytest.fixture(scope="session")
def cases() -> Path:
    """Folder of small inputs that broke other tools, with the right answers."""
    return _shared("cases")


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def command() -> Command:
    """Run ``python -m ARGS`` in the repository; ``code`` is the exit code expected."""

    def run(
        *args: str | Path, code: int = 0, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", *map(str, args)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **(env or {})},
            check=False,
        )
        assert done.returncode == code, (
            f"exit {done.returncode}, expected {code}\n{done.stdout}\n{done.stderr}"
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run
