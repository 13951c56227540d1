# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
DEMO := out/demo

.PHONY: demo test check format benchmarks clean english neural

# The core alone: no parser, no neural network.
$(VENV)/.core: pyproject.toml constraints/core.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints/core.txt -e .
	touch $@

$(VENV)/.test: $(VENV)/.core constraints/test.txt constraints/english.txt
	$(PIP) -c constraints/test.txt -e ".[test]"
	touch $@

# Extras with constraints of their own: parses of English, neural metrics.
english neural: %: $(VENV)/.core constraints/%.txt
	$(PIP) -c constraints/$*.txt -e ".[$*]"

demo: $(VENV)/.core
	$(BIN)/python -m perturb build --format jsonl --input challenge_sets/data/translations.jsonl --target-lang en --out $(DEMO)
	$(BIN)/python -m metrics score --set $(DEMO) --metrics bleu,chrf,chrf++,length,random,source-copy --out $(DEMO)/scores
	$(BIN)/python -m analysis sensitivity --set $(DEMO) --scores $(DEMO)/scores --out $(DEMO)/tables

test: check
	$(BIN)/python -m pytest

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmarks: $(VENV)/.test
	$(BIN)/python benchmarks/surface.py
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/statistics.py

clean:
	rm -rf out .pytest_cache .mypy_cache .ruff_cache .hypothesis
