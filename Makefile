# Each target sets up .venv when it is missing and reuses it when it is there.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-spark check format bench study discovery persons publishing audit prove mutants man docs clean

demo: .venv/installed
	$(BIN)/veilset demo

test: check
	$(BIN)/pytest -n 2

test-spark: .venv/installed
	VEILSET_REAL_SPARK=1 $(BIN)/pytest -n 0 tests/raw/engines/test_spark_cluster.py

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
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

man: .venv/installed
	$(BIN)/python -m veilset.cli.man docs/veilset.1

docs: .venv/installed
	$(BIN)/python -m website

clean:
	rm -rf .venv

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
