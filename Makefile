# Two commands do everything on a fresh Debian or Ubuntu machine with Python 3.11+ and make:
#   make demo   see a mixed cluster come up, be tested and be reported on
#   make test   the project's own tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Of the tests, on two cores: two of them leave half of the processor time to time-outs that are waited for.
WORKERS ?= 3

.PHONY: demo dev quick test test-all test-as-root lint unit coverage mutation with-lab without-lab sample bench fuzz soak upgrade nights selftest soak-settings killing chaos lock lowest wheel image krew clean

demo:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/nettests run --lab

# What the project is developed with; afterwards `.venv/bin/python -m pytest tests/judge` works.
dev:
	@$(PYTHON) scripts/bootstrap.py development

# About a minute: lint, types, import contracts, and the tests of the packages that changed since main.
quick: dev
	@$(BIN)/python -m scripts.quick

test:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python scripts/axe.py
	@$(BIN)/python -m scripts.run_tests --workers $(WORKERS)

# With the nightly tests: whole runs on every profile, each experiment, every document followed.
test-all:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python scripts/axe.py
	@$(BIN)/python -m scripts.run_tests --all --workers $(WORKERS)

# What differs for root: how labs start, what they may, and where they keep their files.
test-as-root:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python -m pytest tests/lab/lifecycle/test_lifecycle.py tests/lab/folders/test_state.py tests/lab/lifecycle/test_users.py tests/lab/network/test_rights.py

lint:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python -m pytest

# What decides, run by its own tests: lines and branches, and how many lines of tests stand beside how much code.
coverage:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python scripts/measure_coverage.py

# Hours for all of it; BUDGET=10m stops it and the next call goes on, SAMPLE=300 (SEED=1) takes some, FRESH=1 forgets.
mutation:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python scripts/mutation.py $(if $(BUDGET),--budget $(BUDGET)) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(if $(FRESH),--fresh)

with-lab:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python -m pytest -m lab -n $(WORKERS) --dist loadgroup --no-loadscope-reorder --durations=40

without-lab:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python -m scripts.without_lab -n $(WORKERS)

sample:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python scripts/sample.py

bench:
	@$(PYTHON) scripts/bootstrap.py development
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

fuzz:
	@$(PYTHON) scripts/bootstrap.py development
	NETTESTS_FUZZ=$(or $(EXAMPLES),5000) $(BIN)/python -m pytest tests/fuzz --timeout=0

soak:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python scripts/soak.py --budget $(or $(BUDGET),40m) $(if $(ENABLE),--rounds 1 --enable $(ENABLE) --state reports/soak-classes.jsonl)

upgrade:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python -m scripts.upgrade

nights:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python -m scripts.nights

# With RESUME=reports/selftest-… it goes on where that one was.
selftest:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/nettests lab selftest --budget $(or $(BUDGET),40m) $(if $(RESUME),--resume $(RESUME))

soak-settings:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python -m scripts.soak_settings --budget $(or $(BUDGET),40m)

killing:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python scripts/killing.py

chaos:
	@$(PYTHON) scripts/bootstrap.py run
	@$(BIN)/python -m scripts.chaos

# Versions stay where they are; with UPGRADE=--upgrade the newest that pyproject.toml allows are taken.
lock:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python scripts/lock.py $(UPGRADE)

# The unit tests with the lowest versions of the libraries that pyproject.toml allows.
lowest:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-lowest
	$(BIN)/uv pip install --quiet --python $(VENV)-lowest --resolution lowest-direct --editable '.[lab]' --group test
	$(VENV)-lowest/bin/python -m pytest -m "not lab" --ignore=tests/packaging --ignore=tests/lab

wheel:
	@$(PYTHON) scripts/bootstrap.py development
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

# With docker, podman or buildah, whichever works here; with none of them it says so.
image:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python scripts/image.py $(if $(TAG),--tag $(TAG)) $(if $(BASE),--base $(BASE))

# The archive and the manifest that `kubectl krew install --manifest` takes; URI is where the archive will be.
krew:
	@$(PYTHON) scripts/bootstrap.py development
	@$(BIN)/python scripts/krew.py --out dist $(if $(URI),--uri $(URI))

clean:
	rm -rf $(VENV) $(VENV)-lowest dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache mutants .cache/coverage .cache/measured.json
