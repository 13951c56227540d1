"""The names of the judges: bundled prompt sets, GEMBA's own, and ``judge:DIR`` for a user's own."""

from __future__ import annotations

from collections.abc import Callable

from challenge_sets import InputError, MissingExtraError, Unit
from metrics.base import Metric, Need, extra_available
from metrics.judges.judge import Judge
from metrics.judges.prompt_sets import GEMBA_NAMES, PromptSet, bundled, bundled_names, gemba, read_prompt_set
from metrics.registry import METRICS

_DESCRIPTIONS = {
    "mqm": "errors by severity, as a penalty",
    "mqm-context": "errors by severity in the light of earlier turns, and how the context was used",
    "da": "one number from 0 to 100",
    "esa": "error spans, then a number from 0 to 100",
    "document-da": "one number from 0 to 100 for a whole document",
}


def _register(name: str, load: Callable[[str], PromptSet]) -> None:
    # What a list says of a judge must not need its prompts, which take an extra to read.
    kind = name.removeprefix("gemba-").removesuffix("-ref")
    needs: set[Need] = {"source"}
    if name.endswith("-ref"):
        needs.add("reference")
    if kind == "mqm-context":
        needs.add("context")
    unit: Unit = "document" if kind == "document-da" else "segment"
    if unit == "document":
        needs.add("document")
    whose = "GEMBA's own prompts" if name.startswith("gemba-") else "LLM judge"
    if name == "gemba-mqm-ref":
        whose = "GEMBA's MQM prompt with a reference added by this project"
    reference = "against a reference" if "reference" in needs else "without a reference"
    METRICS.register(name)(
        type(
            name,
            (Judge,),
            {
                "__doc__": f"The judge by the prompt set {name}.",
                "__module__": __name__,
                "name": name,
                "needs": frozenset(needs),
                "unit": unit,
                "higher_is_better": not kind.startswith("mqm"),
                "description": f"{whose}: {_DESCRIPTIONS[kind]}, {reference}",
                "load_prompts": classmethod(lambda cls: load(name)),
            },
        )
    )


for _name in bundled_names():
    _register(_name, bundled)
for _name in GEMBA_NAMES:
    _register(_name, gemba)


@METRICS.family("judge")
def _of_directory(directory: str) -> type[Metric]:
    if not directory:
        raise InputError("no directory behind 'judge:'", hint="give the directory of a prompt set")
    if not extra_available("judge"):
        raise MissingExtraError(f"the judge judge:{directory}", "judge")
    prompts = read_prompt_set(directory)
    named: type[Judge] = type("judge", (Judge,), {"__module__": __name__, "name": f"judge:{directory}"})
    return named.of(prompts)
