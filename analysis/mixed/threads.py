"""One thread for the linear algebra of many small matrices."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Within, numpy's and scipy's linear algebra keeps to one thread.

    Threads that wait for one another over matrices of a few hundred rows cost more than they bring: a fit of
    0.04 s took 9 s on two cores that had something else to do.
    """
    return _controller().limit(limits=1)


@cache
def _controller() -> Any:
    # Looking for the libraries takes longer than a small fit, so it is done once, with both of them loaded.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
