# Everything a contributor types. A fresh clone needs nothing first: the environment is made on first use.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Another scorer with the same command line, its cases beside its folder: make score JUDGE=path/to/score.py
JUDGE ?=
JUDGED = PATH="$(abspath $(BIN)):$$PATH" python $(JUDGE) --cases $(dir $(JUDGE))../cases --firstcause firstcause $(JUDGE_OPTIONS)
# The heavy tests stand together; without stealing, one worker would get nearly all of them.
PARALLEL := -n 2 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test slow check bench score replay docs wheel sbom chromium screens clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  PYTHON=python3.12 makes the environment with that Python; VENV=path uses or makes another one."

demo: $(VENV)/.dev ## Play two failures from the failing command to the verified fix
	@$(BIN)/python demo/demo.py

test: check ## check, then every test that is not marked slow
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PARALLEL) -m "not slow" --durations=15

slow: check $(VENV)/.libraries ## check, then every test, with transformers, lightning and accelerate
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PARALLEL) --durations=15

check: $(VENV)/.dev ## Lint, format, types, import contracts, catalogue
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m firstcause.catalog.validate

bench: $(VENV)/.dev ## Measure what observing costs: time in paired blocks, peak memory
	$(BIN)/python benchmarks/overhead.py

score: $(VENV)/.dev ## Score diagnoses on benchmarks/cases, and by JUDGE=path/to/score.py if given
	$(BIN)/python benchmarks/score.py --firstcause $(abspath $(BIN))/firstcause
	$(if $(JUDGE),$(JUDGED))

replay: $(VENV)/.dev ## Diagnose the recorded cases again, and show where an answer differs from the kept one
	$(BIN)/python benchmarks/replay.py

docs: $(VENV)/.dev ## Build the site of the documentation into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

wheel: $(VENV)/.dev ## Build the wheel into dist: the same sources give the same bytes
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --wheel

sbom: wheel ## Write dist/sbom.json: what the wheel installs, as CycloneDX
	rm -rf build/sbom && $(PYTHON) -m venv --without-pip build/sbom
	$(BIN)/python -m pip --python build/sbom/bin/python install --quiet dist/*.whl
	$(BIN)/cyclonedx-py environment build/sbom/bin/python --pyproject pyproject.toml --mc-type library --output-reproducible -o dist/sbom.json

chromium: $(VENV)/.dev ## Get a Chromium for tests/browser, where the system has none
	$(BIN)/python -m playwright install chromium

screens: $(VENV)/.dev ## Draw the pictures of the page in docs/screens again
	$(BIN)/python docs/screens.py

clean: ## Remove caches, builds and records; the environment stays
	rm -rf build dist .firstcause .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -path ./$(VENV) -prune -o -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The stamps hold what pyproject.toml asked for when they were made.
$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing firstcause[dev] into $(VENV); torch is large, this takes minutes once"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/.libraries: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,libraries]'
	@touch $@
