# `make demo` and `make test` set everything up by themselves, in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types imports tests benchmarks reproduce docs clean

demo: $(VENV)/.demo
	$(BIN)/elbmf demo --output demo --overwrite

# What takes long is done at the same time.
test: lint imports
	$(MAKE) --no-print-directory --jobs=2 types tests

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

imports: $(VENV)/.test
	$(BIN)/lint-imports

tests: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

# Needs torch, for the dense algorithm to compare with; DATA is a folder of .npz matrices.
DATA ?= ../shared/data
benchmarks: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/speed.py --data $(DATA)

# The paper's figures, and whether its claims hold; hours. DATA as above.
reproduce: $(VENV)/.reproduce
	$(BIN)/elbmf reproduce all --full --data $(DATA) --output reproduced --page docs/claims.md

# The site of the documentation, in build/docs; open build/docs/index.html.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -n -q docs build/docs

$(BIN)/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or later is needed"'
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of dependencies; pyproject.toml says what is in it.
$(VENV)/.demo: EXTRA = plots
$(VENV)/.test: EXTRA = test
$(VENV)/.benchmarks: EXTRA = benchmarks
$(VENV)/.reproduce: EXTRA = reproduce
$(VENV)/.docs: EXTRA = docs
$(VENV)/.demo $(VENV)/.test $(VENV)/.benchmarks $(VENV)/.reproduce $(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRA)]'
	touch $@

clean:
	rm -rf $(VENV) demo reproduced build dist docs/_pictures docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
