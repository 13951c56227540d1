"""The options of every command that asks a judge, and what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metrics.judges.options import JudgeOptions
from metrics.llm.log import CALLS
from metrics.llm.options import LlmOptions, parse_parameter

_PANEL = "Judges"

Model = Annotated[
    str | None,
    typer.Option(
        help="The model that judges, as the endpoint spells it.", metavar="NAME", rich_help_panel=_PANEL
    ),
]
BaseUrl = Annotated[
    str, typer.Option(help="An OpenAI-compatible endpoint.", metavar="URL", rich_help_panel=_PANEL)
]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(
        help="The environment variable that holds the key; default OPENAI_API_KEY, none for a local server.",
        metavar="NAME",
        rich_help_panel=_PANEL,
    ),
]
Temperature = Annotated[float, typer.Option(help="Sampling temperature.", rich_help_panel=_PANEL)]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        help="Most tokens of an answer, thinking included; default by prompt set.",
        metavar="N",
        rich_help_panel=_PANEL,
    ),
]
Param = Annotated[
    list[str] | None,
    typer.Option(
        help="A further parameter of the request, such as seed=7; may be repeated.",
        metavar="NAME=VALUE",
        rich_help_panel=_PANEL,
    ),
]
DialectOption = Annotated[
    str,
    typer.Option(
        help="How parameters are spelled: chat, reasoning (no temperature, max_completion_tokens), or auto, "
        "by the model's name.",
        rich_help_panel=_PANEL,
    ),
]
StructuredOption = Annotated[
    str,
    typer.Option(
        help="Answers as JSON under a schema: on, off, or auto, where prompts and model can.",
        rich_help_panel=_PANEL,
    ),
]
Samples = Annotated[
    int, typer.Option(help="How often every text is judged.", metavar="K", rich_help_panel=_PANEL)
]
Concurrency = Annotated[
    int, typer.Option(help="Calls under way at once.", metavar="N", rich_help_panel=_PANEL)
]
Timeout = Annotated[
    float, typer.Option(help="Seconds to wait for one answer.", metavar="S", rich_help_panel=_PANEL)
]
MaxCost = Annotated[
    float | None,
    typer.Option(help="The most that this run may cost; needs --prices.", rich_help_panel=_PANEL),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices", help="TOML file with prices of a million tokens.", metavar="FILE", rich_help_panel=_PANEL
    ),
]


def judge_options(
    out: Path,
    *,
    model: str | None,
    base_url: str,
    api_key_env: str | None,
    temperature: float,
    max_tokens: int | None,
    param: list[str] | None,
    dialect: str,
    structured: str,
    samples: int,
    concurrency: int,
    timeout: float,
    max_cost: float | None,
    prices: Path | None,
    asks: bool,
    batched: bool = False,
) -> JudgeOptions | None:
    """The options of a judge, its log in ``out``; ``None`` without a model. ``InputError``: a bad value."""
    if model is None:
        return None
    llm = LlmOptions(
        model=model,
        base_url=base_url,
        api_key_env=api_key_env,
        temperature=temperature,
        max_tokens=max_tokens,
        extra=dict(parse_parameter(each) for each in param or ()),
        dialect=dialect,  # type: ignore[arg-type]  # checked there
        structured=structured,  # type: ignore[arg-type]
        concurrency=concurrency,
        timeout=timeout,
        max_cost=max_cost,
        prices=prices,
    )
    return JudgeOptions(llm, out / CALLS, samples, asks=asks, batched=batched)
