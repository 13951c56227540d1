"""Says why a checkpoint cannot be had from the hub, and what to do about it.

What the hub library raises may quote an address with a password in it, so its errors are classified here and
neither quoted nor chained.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
from collections.abc import Collection, Container
from dataclasses import dataclass
from difflib import get_close_matches

from challenge_sets import InputError

_CANNOT_WRITE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOTDIR, errno.EEXIST),  # a file stands where the cache should be
}
_LOG_IN = "log in with 'hf auth login', or set HF_TOKEN"


@dataclass(frozen=True, slots=True)
class HubId:
    """A hub id that a user typed, at a revision (none: ``main``), and what is known of ids.

    ``known``: ids that a mistyped one is compared with. ``gated``: ids whose licence must be accepted first.
    """

    name: str
    revision: str | None
    known: Collection[str]
    gated: Container[str]

    @property
    def page(self) -> str:
        """Where the hub shows it."""
        return f"{endpoint()}/{self.name}"

    @property
    def cache_folder(self) -> str:
        """Name of its folder in the cache."""
        return f"models--{self.name.replace('/', '--')}"

    @property
    def meant(self) -> str:
        """'did you mean …?' with the known ids that look like it, whatever the organisation; or empty."""
        if self.name in self.known:
            return ""
        known = {_bare(name): name for name in self.known}
        names = [known[spelling] for spelling in get_close_matches(_bare(self.name), known, n=2, cutoff=0.75)]
        return f"did you mean {' or '.join(names)}?" if names else ""


def endpoint() -> str:
    """Address of the hub, without user name and password where the setting holds them."""
    from huggingface_hub import constants

    return re.sub(r"//[^/]*@", "//", constants.ENDPOINT)


def impossible(asked: HubId) -> InputError:
    """The name is neither a path nor could it be an id."""
    return InputError(
        f"'{asked.name}' is neither a hub id nor a path that exists",
        hint=_lines("a hub id is ORG/NAME, of letters, digits, '-', '_' and '.'", asked.meant),
    )


def not_cached(asked: HubId, lacking: str, unreachable: str = "") -> InputError:
    """It is not in the cache, or there without the file ``lacking``; and why the hub did not help."""
    from huggingface_hub import constants

    name, why = asked.name, unreachable
    what = name if asked.revision is None else f"{name} at revision '{asked.revision}'"
    if constants.HF_HUB_OFFLINE:
        # The library takes the second one where the first is not set.
        variable = "HF_HUB_OFFLINE" if os.environ.get("HF_HUB_OFFLINE") else "TRANSFORMERS_OFFLINE"
        why = f"{variable} is set"
    gaps = f" completely: no {lacking}" if lacking else ""
    revision = "" if asked.revision is None else f" --revision {shlex.quote(asked.revision)}"
    return InputError(
        f"{what} is not cached{gaps}" + (f", and {why}" if why else ""),
        hint=_lines(
            asked.meant,
            f"looked for in {constants.HF_HUB_CACHE}/{asked.cache_folder} (HF_HOME names another place)",
            f"its licence must be accepted first, at {asked.page}" if name in asked.gated else "",
            f"where there is a network: hf download {name}{revision}",
            "if that changes nothing, it is no checkpoint of this kind" if lacking else "",
        ),
    )


def hub_failure(asked: HubId, error: BaseException) -> InputError:
    """Which failure an exception of the hub library stands for."""
    from huggingface_hub import constants
    from huggingface_hub.errors import (
        DisabledRepoError,
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    # The library wraps whatever kept it from the hub: a refusal may hide in a "not on this disk".
    while isinstance(error, LocalEntryNotFoundError) and error.__cause__ is not None:
        error = error.__cause__
    status = getattr(getattr(error, "response", None), "status_code", None)
    name, refused = asked.name, status in (401, 403)
    if isinstance(error, GatedRepoError) or (refused and name in asked.gated):
        return InputError(
            f"'{name}' is gated: access must be asked for before it can be downloaded",
            hint=_lines(f"ask for access and accept the licence at {asked.page}", f"then {_LOG_IN}"),
        )
    if isinstance(error, RepositoryNotFoundError | DisabledRepoError):
        return InputError(
            f"there is no model '{name}' at {endpoint()}, or it is private",
            hint=_lines(asked.meant or "check the spelling", f"where it is private: {_LOG_IN}"),
        )
    if isinstance(error, RevisionNotFoundError):
        return InputError(
            f"'{name}' has no revision '{asked.revision or 'main'}'",
            hint=f"its branches and tags are at {asked.page}/tree/main",
        )
    if refused:
        return InputError(
            f"access to '{name}' is refused (HTTP {status})",
            hint=_lines(
                f"{_LOG_IN}; the token must be valid and allowed to read this model",
                "where no token is needed, a proxy or firewall may stand in between",
            ),
        )
    if isinstance(error, OSError) and error.errno in _CANNOT_WRITE:
        return InputError(
            f"'{name}' cannot be written to the cache: {os.strerror(error.errno)}",
            path=constants.HF_HUB_CACHE,
            hint="make room, or name another place by HF_HOME",
        )
    return not_cached(asked, "", f"{endpoint()} cannot be reached ({_reason(error, status)})")


def _reason(error: BaseException, status: int | None) -> str:
    from requests import exceptions

    if status is not None:
        return f"HTTP {status}"
    # More special kinds first.
    kinds: dict[type[BaseException], str] = {
        exceptions.Timeout: "no answer in time",
        exceptions.ProxyError: "the proxy fails",
        exceptions.SSLError: "its certificate is not accepted",
        exceptions.ConnectionError: "no connection",
        exceptions.ChunkedEncodingError: "the connection broke off",
        exceptions.InvalidJSONError: "what answers there is no model hub",
    }
    return next((text for kind, text in kinds.items() if isinstance(error, kind)), type(error).__name__)


def _bare(name: str) -> str:
    return name.rpartition("/")[2].lower()


def _lines(*lines: str) -> str:
    return "\n  ".join(filter(None, lines))
