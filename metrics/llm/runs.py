"""Who asks: the name of this run, and whether another one can still be at work."""

from __future__ import annotations

import os
import socket
import time

_HOST = socket.gethostname()
_STARTED = time.time_ns()


def this_run() -> str:
    """Names this process. One that was forked, or started anew under the same number, has another name."""
    return f"{_HOST}:{os.getpid()}:{_STARTED}"


def alive(run: str) -> bool:
    """Whether the process of a run may still be there; on another machine nobody can tell.

    What follows a slash in the name tells parts of one run apart.
    """
    run, _, _ = run.partition("/")
    if run == this_run():
        return True
    host, pid, _ = run.rsplit(":", 2)
    if host != _HOST:
        return True
    if int(pid) == os.getpid():
        # In a container every run has the same number.
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
