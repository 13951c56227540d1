"""Neural metrics without a network: a fake hub cache with tiny checkpoints behind the real ids.

Without the extra 'neural' nothing of this folder is collected.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
_INSTALLED = all(find_spec(module) for module in ("torch", "transformers", "comet"))
collect_ignore_glob = [] if _INSTALLED else ["test_*.py"]

_HOME: tempfile.TemporaryDirectory[str] | None = None
if _INSTALLED:
    _HOME = tempfile.TemporaryDirectory(prefix="tiny-hub-")
    # Child processes inherit these. The first three would overrule HF_HOME.
    for overruling in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"):
        os.environ.pop(overruling, None)
    os.environ["HF_HOME"] = _HOME.name
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    # Models of this size are several times slower with more threads.
    os.environ["OMP_NUM_THREADS"] = "1"


def pytest_configure(config: pytest.Config) -> None:
    for message in (
        "pkg_resources is deprecated",
        "Deprecated call to `pkg_resources",
        ".*LeafSpec",
        ".*does not have many workers",
    ):
        config.addinivalue_line("filterwarnings", f"ignore:{message}")


def pytest_sessionfinish() -> None:
    if _HOME is not None:
        _HOME.cleanup()


def _tiny() -> ModuleType:
    # Test folders are no packages, so that a neighbour is loaded by its path. It imports torch.
    name = "tiny_checkpoints"
    if name not in sys.modules:
        spec = spec_from_file_location(name, HERE / "tiny.py")
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def _import_quietly() -> None:
    """Import comet without its handler on the root logger, and keep it and Lightning from chatting."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    import comet  # noqa: F401

    root.setLevel(level)
    root.handlers[:] = handlers
    for name in ("comet", "lightning", "lightning.pytorch", "pytorch_lightning"):
        logging.getLogger(name).setLevel(logging.ERROR)


@pytest.fixture(scope="session")
def hub() -> Path:
    """The folder that ``HF_HOME`` names, with all tiny checkpoints in it. Do not write to it."""
    assert _HOME is not None
    _import_quietly()
    from huggingface_hub import constants

    if Path(constants.HF_HOME) != Path(_HOME.name):
        pytest.fail("huggingface_hub was imported before the tests set HF_HOME, which it reads once")
    return _tiny().build_hub(Path(_HOME.name))


@pytest.fixture(scope="session")
def texts() -> list[tuple[str, str, str]]:
    """Fifty (hypothesis, source, reference), within every model's limit."""
    return list(_tiny().TEXTS)


@pytest.fixture(scope="session")
def overlong_text() -> str:
    """About 1,900 tokens: beyond the 510 or 512 of COMET and the 1,536 of MetricX."""
    words = "The cat sat on the mat and the committee will meet again next week"
    return " ".join(f"{number}. {words}." for number in range(100))


@pytest.fixture(scope="session")
def load_comet(hub: Path) -> Callable[[str], Any]:
    """``load_comet(id)``: the model as comet loads it from the cache, once a session. Do not change it."""
    loaded: dict[str, Any] = {}

    def load(repo: str) -> Any:
        if repo not in loaded:
            import comet

            checkpoint = comet.download_model(repo, local_files_only=True)
            loaded[repo] = comet.load_from_checkpoint(checkpoint, local_files_only=True, strict=True)
        return loaded[repo]

    return load
