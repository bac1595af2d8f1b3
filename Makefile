# Each target sets up .venv when it is missing and reuses it when it is there. With LOCKED=1 it installs what
# locks/dev.txt holds, each file by its hash, and nothing newer.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-thorough test-spark check format bench study discovery persons publishing audit prove mutants man lock sbom soak fire clean

demo: .venv/installed
	$(BIN)/veilset demo

test: check
	$(BIN)/pytest -n 2

test-thorough: check
	VEILSET_THOROUGH=1 $(BIN)/pytest -n 2

test-spark: .venv/installed
	VEILSET_REAL_SPARK=1 $(BIN)/pytest -n 0 tests/raw/engines/test_spark_cluster.py

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.supply_chain audit

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

clean:
	rm -rf .venv

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
ifdef LOCKED
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/build.txt -r locks/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
endif
	touch $@
