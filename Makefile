# `make demo` and `make test` set everything up by themselves, in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo setup quick test lint types kernels more-kernels imports tests random fuzz benchmarks reproduce docs dist clean

demo: $(VENV)/.demo
	$(BIN)/elbmf demo --output demo --overwrite

# What the core tests need, and nothing else.
setup: $(VENV)/.core

# A minute or two, once the kernels are compiled: properties of Boolean algebra, relaxation, search and
# criteria against their slow twins, and that the rooms are those of the map in the README.
QUICK := tests/test_package.py tests/utils tests/kernels tests/boolean tests/relaxation tests/search tests/ranks
QUICK_MARKERS := not slow and not cluster and not torch
quick: $(VENV)/.core
	$(BIN)/python -m pytest -q -m '$(QUICK_MARKERS)' $(PARALLEL) $(QUICK)

# Types are checked on one core while the kernels that most tests need are compiled on the other: the
# tests themselves run in several processes, each of which would compile them.
test: lint imports
	$(MAKE) --no-print-directory --jobs=2 types kernels more-kernels
	$(MAKE) --no-print-directory tests

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

kernels: $(VENV)/.test
	$(BIN)/elbmf demo --quiet --output build/demo --overwrite > /dev/null

more-kernels: $(VENV)/.test
	$(BIN)/python tests/compiling.py

types: $(VENV)/.test
	$(BIN)/mypy

imports: $(VENV)/.test
	$(BIN)/lint-imports

# Tests with a group stay together, for what they share takes long to set up. A package that is
# not there is a failure, not a reason to skip.
PARALLEL := --numprocesses auto --dist loadgroup
tests: $(VENV)/.test
	ELBMF_EXTRAS=required $(BIN)/python -m pytest $(PARALLEL)

# The properties alone, on other examples in every run, EXAMPLES times as many as in `make test`. What
# fails says how to see the example again.
EXAMPLES ?= 10
random: $(VENV)/.test
	ELBMF_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest $(PARALLEL) --hypothesis-profile=random -m hypothesis

# Damaged files, forged folders and made-up command lines, none of which may break anything, for so many
# seconds. What does is printed, with how to see it again.
SECONDS ?= 60
SEED ?= 0
fuzz: $(VENV)/.test
	$(BIN)/python tests/fuzzing.py --seconds $(SECONDS) --seed $(SEED)

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

# The files of a release, in dist.
dist: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build

$(BIN)/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or later is needed"'
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of dependencies; pyproject.toml says what is in it.
$(VENV)/.demo: EXTRA = plots
$(VENV)/.core: EXTRA = test
$(VENV)/.test: EXTRA = test-all
$(VENV)/.benchmarks: EXTRA = benchmarks
$(VENV)/.reproduce: EXTRA = reproduce
$(VENV)/.docs: EXTRA = docs
$(VENV)/.demo $(VENV)/.core $(VENV)/.test $(VENV)/.benchmarks $(VENV)/.reproduce $(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRA)]'
	touch $@

clean:
	rm -rf $(VENV) demo reproduced build dist docs/_pictures docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
