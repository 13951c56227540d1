import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from challenge_sets import InputError, MissingExtraError
from challenge_sets.parallel import chunked, ordered_map


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order(workers: int) -> None:
    chunks = chunked(range(50), 3)
    assert [n for chunk in ordered_map(sorted, chunks, workers=workers) for n in chunk] == list(range(50))


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(divmod_by_zero, [1, 2, 3], workers=2))


def divmod_by_zero(number: int) -> float:
    return number / 0


def refuse(number: int) -> None:
    raise MissingExtraError("this", "english") if number else InputError("bad", path="f", line=3, hint="mend")


@pytest.mark.parametrize(("number", "fields"), [(0, {"path": "f", "line": 3}), (1, {"extra": "english"})])
def test_an_error_for_the_user_survives_the_way_back(number: int, fields: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        list(ordered_map(refuse, [number], workers=2))
    assert fields.items() <= vars(caught.value).items()
    assert str(caught.value) == str(pickle.loads(pickle.dumps(caught.value)))


SLEEPERS = """
import os, sys, time
from challenge_sets.parallel import ordered_map
def sleep(path):
    open(path + str(os.getpid()), "w").close()
    time.sleep(60)
if __name__ == "__main__":
    list(ordered_map(sleep, [sys.argv[1]] * 4, workers=2))
"""


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_leave_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "sleepers.py"
    script.write_text(SLEEPERS)
    parent = subprocess.Popen([sys.executable, str(script), str(tmp_path / "pid-")])
    deadline = time.monotonic() + 30
    while len(workers := [int(path.name[4:]) for path in tmp_path.glob("pid-*")]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    while any(map(alive, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
