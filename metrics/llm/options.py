"""How a large language model is reached and asked: the endpoint, the sampling, and the limits of a run."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from challenge_sets import InputError

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
# What a local server is given that asks for no key; the client insists on one.
NO_KEY = "none"

Dialect = Literal["auto", "chat", "reasoning"]
Structured = Literal["auto", "on", "off"]

# Models that refuse a temperature and take max_completion_tokens, whose budget their thinking shares.
_REASONING = re.compile(r"(^|/)(o\d|gpt-5(?!-chat))", re.IGNORECASE)
_REASONING_BUDGET = 8192
_RESERVED = ("model", "messages", "stream", "n", "response_format", "temperature", "tools", "functions")
_BUDGETS = ("max_tokens", "max_completion_tokens")
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """One model behind one OpenAI-compatible endpoint. Raises ``InputError`` for a value that is none.

    ``api_key_env`` names the environment variable that holds the key; by default ``OPENAI_API_KEY``, and no
    key for a server on this machine. ``max_tokens`` is the most that one answer may hold, thinking included
    (``None``: what the prompts ask for). ``extra`` are further parameters of the request body. ``dialect``
    is how parameters are spelled: ``reasoning`` models take no temperature and name their budget otherwise;
    ``auto`` goes by the model's name. ``timeout`` counts seconds, ``attempts`` how often one call is tried,
    ``max_cost`` the money that one run may spend, in the currency of the ``prices`` (a TOML file).
    """

    model: str
    base_url: str = OPENAI
    api_key_env: str | None = None
    temperature: float = 0.0
    max_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    dialect: Dialect = "auto"
    structured: Structured = "auto"
    concurrency: int = 16
    timeout: float = 120.0
    attempts: int = 6
    max_cost: float | None = None
    prices: Path | None = None

    def __post_init__(self) -> None:
        # Line ends and halves of characters are no names, and cannot be sent.
        if not self.model.strip() or not self.model.isprintable():
            raise InputError("no model named", hint="--model NAME, as the endpoint spells it")
        self._check_url()
        self._check_key_name()
        for name, allowed in (("dialect", get_args(Dialect)), ("structured", get_args(Structured))):
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"{name} is '{getattr(self, name)}'", hint=f"it is one of {', '.join(allowed)}"
                )
        for name in ("max_tokens", "concurrency", "attempts"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name.replace('_', '-')} is {value}, it is at least 1")
        # Written so that a number that is none fails, too.
        if not 0.0 <= self.temperature <= 2.0:
            raise InputError(f"temperature is {self.temperature}, it lies between 0 and 2")
        if not 0.0 < self.timeout < float("inf"):
            raise InputError(f"timeout is {self.timeout}, it is a number of seconds above 0")
        if self.max_cost is not None and not 0.0 < self.max_cost < float("inf"):
            raise InputError(f"max-cost is {self.max_cost}, it is an amount above 0")
        taken = sorted({*_RESERVED, *_BUDGETS} & set(self.extra))
        if taken:
            raise InputError(
                f"the parameter '{taken[0]}' cannot be given by --param",
                hint="temperature and max-tokens have options of their own; the rest belongs to the prompts",
            )

        try:
            json.dumps(dict(self.extra), ensure_ascii=False, allow_nan=False).encode("utf-8")
        except (TypeError, ValueError) as error:
            raise InputError(f"the parameters of --param are no JSON: {error}") from None

    def _check_url(self) -> None:
        try:
            url = urlsplit(self.base_url)
            good = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
            good &= self.base_url.isprintable() and " " not in self.base_url
        except ValueError:
            good = False
        if not good:
            # What stands before an @ may be a password.
            shown = f" '{self.base_url}'" if "@" not in self.base_url else ""
            raise InputError(
                f"the base URL{shown} is no address",
                hint="for example https://api.openai.com/v1 or http://localhost:8000/v1",
            )
        if url.username or url.password or url.query or url.fragment:
            raise InputError(
                f"the base URL of {url.hostname} holds a user, a password, a query or a fragment",
                hint="the key belongs into an environment variable, named by --api-key-env",
            )

    def _check_key_name(self) -> None:
        # A key on the command line by mistake must not be repeated in the message.
        if self.api_key_env is not None and not _ENVIRONMENT_NAME.fullmatch(self.api_key_env):
            raise InputError(
                "--api-key-env takes the name of an environment variable, not the key itself",
                hint="export MY_KEY=…, then --api-key-env MY_KEY",
            )

    @property
    def endpoint(self) -> str:
        """The base URL in one spelling, for keys and signatures; it holds no secret."""
        url = urlsplit(self.base_url)
        return f"{url.scheme.lower()}://{url.netloc.lower()}{url.path.rstrip('/')}"

    @property
    def local(self) -> bool:
        """Whether the endpoint is a server on this machine."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            address = ip_address(host)
            # 0.0.0.0 is what servers print that listen on all addresses of this machine.
            return address.is_loopback or address.is_unspecified
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def key_name(self) -> str:
        """The environment variable that holds the key."""
        return self.api_key_env or OPENAI_KEY

    def key(self) -> str:
        """The key; ``InputError`` where the variable is not set and the endpoint is not on this machine."""
        if self.local and self.api_key_env is None:
            return NO_KEY
        key = os.environ.get(self.key_name, "").strip()
        if not key:
            raise InputError(
                f"no key for {self.endpoint}: the environment variable {self.key_name} is not set",
                hint=f"export {self.key_name}=…, or name another variable with --api-key-env",
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise InputError(f"the key in {self.key_name} holds characters that no key holds")
        return key

    @property
    def reasoning(self) -> bool:
        """Whether parameters are spelled for a reasoning model."""
        return self.dialect == "reasoning" or (
            self.dialect == "auto" and _REASONING.search(self.model) is not None
        )

    def parameters(self, max_tokens: int) -> dict[str, Any]:
        """What stands in a request body beside model, messages and schema.

        ``max_tokens`` is what the prompts ask for, thinking not included.
        """
        if self.reasoning:
            budget = self.max_tokens or max(max_tokens, _REASONING_BUDGET)
            return {"max_completion_tokens": budget, **self.extra}
        return {
            # One spelling, whether it was given as 0 or as 0.0: the keys of calls tell them apart.
            "temperature": float(self.temperature),
            "max_tokens": self.max_tokens or max_tokens,
            **self.extra,
        }


def parse_parameter(text: str) -> tuple[str, Any]:
    """``NAME=VALUE`` with a JSON value, or a plain word; ``InputError`` for anything else."""
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name):
        raise InputError(f"--param '{text}' is not NAME=VALUE", hint="for example --param seed=7")
    try:
        return name, json.loads(value, parse_constant=_finite, parse_float=_finite)
    except InputError:
        raise
    except (ValueError, RecursionError):
        if value.lstrip()[:1] in ("[", "{", '"', "") or not value.isprintable():
            raise InputError(f"the value of --param {name} is no JSON: {value}") from None
        return name, value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"{text} is no JSON number")
    return number
