"""Whether answers are bound to a schema: as the user says, or as the model shows when it is tried once."""

from __future__ import annotations

import json

from challenge_sets import InputError
from metrics.judges.options import JudgeOptions
from metrics.judges.prompt_sets import PromptSet
from metrics.llm.calls import Call, Reply
from metrics.llm.client import Client
from metrics.llm.exchanges import UnsupportedParameterError
from metrics.llm.log import CallLog
from metrics.llm.options import LlmOptions

_PURPOSE = "does the model bind its answers to a schema?"
_QUESTION = "Is water wet? Answer with a JSON object that has the one field 'wet', true or false."
_SCHEMA = {
    "type": "object",
    "properties": {"wet": {"type": "boolean"}},
    "required": ["wet"],
    "additionalProperties": False,
}
# A few words; a model that thinks before it answers needs more.
_BUDGET = 1024


def trial(asker: str) -> str:
    """The purpose of the question as a judge asks it, for the log."""
    return f"{_PURPOSE}|asked for:{asker}"


def answers_structured(prompts: PromptSet, options: JudgeOptions, asker: str) -> bool:
    """Whether the answers of a judge are JSON under a schema; ``asker`` names the judge.

    With ``auto`` that is so where the prompts have a schema and the model keeps to one. A model that was
    never tried is asked one short question, and what it did is kept in the log; where nothing may be asked,
    it is taken to keep to it. ``InputError`` for ``on`` with prompts that have no schema.
    """
    wish = options.llm.structured
    if wish == "on" and not prompts.structured:
        raise InputError(
            f"the prompt set '{prompts.name}' has no schema for structured answers",
            hint="--structured auto takes structured answers where there is one",
        )
    if wish != "auto" or not prompts.structured:
        return wish == "on"
    if not options.asks:
        if not options.log.is_file():
            return True
        log = CallLog(options.log, read_only=True)
        try:
            return log.structured(options.llm.endpoint, options.llm.model) is not False
        finally:
            log.close()
    log = CallLog(options.log)
    try:
        known = log.structured(options.llm.endpoint, options.llm.model)
        if known is None:
            known = _try(options, log, asker)
            log.remember_structured(options.llm.endpoint, options.llm.model, known)
        return known
    finally:
        log.close()


def _try(options: JudgeOptions, log: CallLog, asker: str) -> bool:
    llm = options.llm
    call = Call(
        endpoint=llm.endpoint,
        model=llm.model,
        messages=({"role": "user", "content": _QUESTION},),
        parameters=llm.parameters(_BUDGET),
        schema=_SCHEMA,
        purpose=trial(asker),
    )
    client = Client(llm, log)
    client.budget = options.budget
    try:
        replies = [reply for part in client.ask([call]) for _, reply in part]
    except UnsupportedParameterError as error:
        if error.parameter not in ("response_format", "json_schema"):
            raise
        return False
    finally:
        client.close()
    return _kept_to_schema(replies[0], llm)


def _kept_to_schema(reply: Reply, llm: LlmOptions) -> bool:
    if reply.status != "ok":
        # No answer under the schema is so long, and a request that is refused is so for the schema's sake.
        if reply.reason.startswith("refused") or (reply.status == "unparsed" and reply.text.strip()):
            return False
        raise InputError(
            f"{llm.endpoint} gave no answer to a first short question: {reply.reason}",
            hint="with --structured on or off it is not asked",
        )
    try:
        value = json.loads(reply.text)
    except ValueError:
        return False
    return isinstance(value, dict) and set(value) == {"wet"} and isinstance(value["wet"], bool)
