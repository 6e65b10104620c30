# Two commands do everything on a fresh Debian or Ubuntu machine with Python 3.11+ and make:
#   make demo   see a mixed cluster come up, be tested and be reported on
#   make test   the project's own tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Of the tests; more of them wait for each other where cores are few.
WORKERS ?= 2

.PHONY: demo test lint unit with-lab without-lab sample bench soak soak-settings killing wheel clean

demo:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/nettests run --lab

test: lint without-lab with-lab

lint:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python -m pytest

with-lab:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python -m pytest -m lab -n $(WORKERS) --dist loadgroup --no-loadscope-reorder --durations=40

without-lab:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python scripts/without_lab.py -n $(WORKERS)

sample:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python scripts/sample.py

bench:
	@$(PYTHON) scripts/bootstrap.py development
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

soak:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python scripts/soak.py --budget $(or $(BUDGET),40m)

soak-settings:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python -m scripts.soak_settings --budget $(or $(BUDGET),40m)

killing:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python scripts/killing.py

wheel:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
