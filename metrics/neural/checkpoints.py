"""Finds the files of a checkpoint that a user names by hub id or by path.

The hub library does the work for ids, and reads its own settings from the environment: ``HF_HOME``,
``HF_HUB_CACHE``, ``HF_HUB_OFFLINE``, ``HF_ENDPOINT``, ``HF_TOKEN``.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import re
import sys
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from challenge_sets import InputError, MissingExtraError
from metrics.neural.hub_errors import HubId, hub_failure, impossible, not_cached

_SHARD = re.compile(r"(.+)-\d{5}-of-(\d{5})(\.\w+)")
_SHORT_SHA = re.compile(r"[0-9a-fA-F]{7,39}")
_NO_REVISION = re.compile(r"\.\.|^[/-]|/$|[\x00-\x20\x7f~^:?*\[\\]|^$")
"""What git does not allow in the name of a branch or tag; ``..`` would also leave the cache folder."""


@dataclass(frozen=True, slots=True)
class Located:
    """A checkpoint whose files are on this machine."""

    name: str
    """As the user typed it."""
    folder: Path
    """Absolute path of the folder that holds the files."""
    revision: str
    """Commit of the snapshot for a hub id, ``sha256=`` and 16 hex digits over its files for a path."""
    weights: tuple[Path, ...]
    """The files that the first pattern names, sorted; all shards where the weights are sharded."""


def is_path(name: str) -> bool:
    """Whether a name means a path: it exists, or has a form that no hub id can have."""
    if not name:
        return False
    looks = name[0] in "./~" or "\\" in name or name.count("/") > 1 or name.endswith(".ckpt")
    return looks or _exists(_expanded(name))


def offline() -> bool:
    """Whether the hub library was told not to use the network. ``MissingExtraError`` where it is absent."""
    _need_hub()
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def locate(
    name: str,
    *,
    revision: str | None = None,
    files: Sequence[str],
    required: int = 1,
    known: Collection[str] = (),
    gated: Container[str] = (),
    download: bool = True,
) -> Located:
    """Find a checkpoint by path or by hub id; a hub id is downloaded where the cache lacks it.

    ``files`` are patterns relative to the checkpoint's folder; ``*`` stays within one path component, and
    ``a|b`` means the files of ``a`` or, where there are none, those of ``b``. The first pattern names the
    weights. The first ``required`` patterns must have files; of the rest comes what there is.
    ``revision`` is a branch, a tag or a commit; without it a cached ``main`` is taken as it is, with no look
    at the hub. ``known`` are the ids that a mistyped one is compared with, ``gated`` those whose licence
    must be accepted. Every failure is an ``InputError`` whose first line says which it is: not cached,
    gated, no such id, no such revision, no such path, no such checkpoint; ``MissingExtraError`` where a hub
    id is given and the hub library is not installed.
    """
    if is_path(name):
        return _on_disk(name, revision, files, required)
    asked = HubId(name, revision, known, gated)
    _check(asked)
    folder = _cached(asked)
    if folder is None or _lacking(folder, files, required):
        if offline() or not download:
            raise not_cached(asked, "" if folder is None else _lacking(folder, files, required))
        folder = _downloaded(asked, files, required)
        if lacking := _lacking(folder, files, required):
            raise _no_checkpoint(name, lacking)
    return Located(name, folder, folder.name, tuple(_found(folder, files[0])))


# --- paths ---------------------------------------------------------------------------------------------


def _on_disk(name: str, revision: str | None, files: Sequence[str], required: int) -> Located:
    path = _expanded(name)
    if not _exists(path):
        raise InputError(
            "no such file or folder", path=name, hint="give the folder of a checkpoint, or a hub id ORG/NAME"
        )
    if revision is not None:
        raise InputError(
            f"a path has no revision '{revision}'", path=name, hint="leave the revision out, or give a hub id"
        )
    path = path.absolute()  # Not resolved: files of a hub snapshot are links to files of other names.
    folder, weights = (path, _found(path, files[0])) if path.is_dir() else _of_file(path, files[0])
    if lacking := _lacking(folder, files, required, weights):
        raise _no_checkpoint(name, lacking, local=True)
    # Settings and configuration change what the weights give.
    others = [file for pattern in files[1:] for file in _found(folder, pattern)]
    digest = _digest(folder, list(dict.fromkeys([*weights, *others])))
    return Located(name, folder, f"sha256={digest[:16]}", tuple(weights))


def _of_file(path: Path, pattern: str) -> tuple[Path, list[Path]]:
    """The folder to which a weight file belongs, and the weights: the file itself, or it and its shards."""
    for alternative in pattern.split("|"):
        parents = path.parents
        folder = parents[min(alternative.count("/"), len(parents) - 1)]
        if _fits(path.relative_to(folder).as_posix(), alternative):
            return folder, sorted(_shards(path)) or [path]
    return path.parent, []


def _digest(folder: Path, files: Sequence[Path]) -> str:
    """The digest of the lines that ``sha256sum FILES`` prints in the folder."""
    lines = []
    for path in files:
        try:
            with path.open("rb") as file:
                lines.append((hashlib.file_digest(file, "sha256").hexdigest(), path))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    text = "".join(f"{digest}  {path.relative_to(folder).as_posix()}\n" for digest, path in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # ~user, and there is no such user
        return Path(name)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long for a file name, or in a folder that may not be read
        return False


# --- which files ---------------------------------------------------------------------------------------


def _fits(name: str, pattern: str) -> bool:
    parts, patterns = PurePosixPath(name).parts, PurePosixPath(pattern).parts
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def _listed(names: Sequence[str], pattern: str) -> list[str]:
    """The names that a pattern picks from a repository's listing."""
    for alternative in pattern.split("|"):
        if found := [name for name in names if _fits(name, alternative)]:
            return found
    return []


def _found(folder: Path, pattern: str) -> list[Path]:
    """The files that a pattern picks from a folder. A link to nothing is no file."""
    for alternative in pattern.split("|"):
        if found := sorted(path for path in folder.glob(alternative) if path.is_file()):
            return found
    return []


def _shards(path: Path) -> list[Path]:
    """All files among which ``NAME-00001-of-00002.EXT`` and its like share the weights; else none."""
    if match := _SHARD.fullmatch(path.name):
        stem, count, suffix = match.groups()
        return [path.with_name(f"{stem}-{n:05}-of-{count}{suffix}") for n in range(1, int(count) + 1)]
    return []


def _lacking(folder: Path, files: Sequence[str], required: int, weights: Sequence[Path] | None = None) -> str:
    """The first file that a complete checkpoint would have and this folder has not; empty if complete."""
    for pattern in files[:required]:
        given = weights if pattern == files[0] and weights is not None else _found(folder, pattern)
        if not given:
            return _spelled(pattern)
        for path in (shard for file in given for shard in _shards(file)):
            if not path.is_file():
                return path.relative_to(folder).as_posix()
    return ""


def _spelled(pattern: str) -> str:
    return pattern.replace("|", " or ")


def _no_checkpoint(name: str, lacking: str, *, local: bool = False) -> InputError:
    problem = f"no checkpoint of this kind: it has no {lacking}"
    if local:
        hint = "give the folder in which that file is, or the file itself where it is the weights"
        return InputError(problem, path=name, hint=hint)
    return InputError(f"'{name}' is {problem}", hint="check the id, and that it is given to the right metric")


# --- the hub -------------------------------------------------------------------------------------------


def _need_hub() -> None:
    try:
        import huggingface_hub  # noqa: F401
    except ImportError:
        raise MissingExtraError("finding a checkpoint by its hub id", "neural") from None


def _check(asked: HubId) -> None:
    _need_hub()
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(asked.name)
    except HFValidationError:
        raise impossible(asked) from None
    if asked.revision is not None and _NO_REVISION.search(asked.revision):
        raise InputError(
            f"'{asked.revision}' cannot be a revision of {asked.name}",
            hint="give a branch, a tag or a commit",
        )


def _cached(asked: HubId) -> Path | None:
    """The snapshot folder in the cache, complete or not. No network is used."""
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(asked.name, revision=asked.revision, local_files_only=True))
        # A ref file that was never filled leads to the folder of all snapshots.
        return folder.absolute() if folder.parent.name == "snapshots" else None
    except (LocalEntryNotFoundError, IsADirectoryError):  # a directory: 'refs/pr' of 'refs/pr/1'
        pass
    except OSError as error:
        raise InputError(
            f"the cache cannot be read: {error.strerror}", path=constants.HF_HUB_CACHE, hint="set HF_HOME"
        ) from error
    if asked.revision and _SHORT_SHA.fullmatch(asked.revision):
        snapshots = Path(constants.HF_HUB_CACHE, asked.cache_folder, "snapshots")
        candidates = list(snapshots.absolute().glob(f"{asked.revision.lower()}*"))
        return candidates[0] if len(candidates) == 1 else None
    return None


def _downloaded(asked: HubId, files: Sequence[str], required: int) -> Path:
    from huggingface_hub import HfApi, constants, snapshot_download

    try:
        # Without a time limit a firewall that drops packets would keep the user waiting for minutes.
        about = HfApi().model_info(asked.name, revision=asked.revision, timeout=constants.HF_HUB_ETAG_TIMEOUT)
        names = [file.rfilename for file in about.siblings or ()]
        for pattern in files[:required]:
            if not _listed(names, pattern):
                raise _no_checkpoint(asked.name, _spelled(pattern))
        allowed = [glob.escape(name) for pattern in files for name in _listed(names, pattern)]
        with _progress_on_terminals():
            folder = snapshot_download(asked.name, revision=asked.revision, allow_patterns=allowed)
    except (OSError, RuntimeError) as error:  # RuntimeError: how the library's xet transfer breaks off
        raise hub_failure(asked, error) from None
    return Path(folder).absolute()


@contextlib.contextmanager
def _progress_on_terminals() -> Iterator[None]:
    from huggingface_hub import constants
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    # Where the user has decided by HF_HUB_DISABLE_PROGRESS_BARS, the library only warns about such calls.
    decided = constants.HF_HUB_DISABLE_PROGRESS_BARS is not None
    if decided or sys.stderr.isatty() or are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
