# Two commands do everything from a fresh clone: `make run` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test test-all lint clean

run: .venv/installed
	$(BIN)/biorrr learn

test: .venv/installed
	$(BIN)/python -m pytest

test-all: .venv/installed
	$(BIN)/python -m pytest -m "slow or not slow"

lint: .venv/installed
	$(BIN)/pip install --quiet --editable ".[dev]"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.venv/installed: setup.cfg pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "biorrr needs Python 3.11, 3.12 or 3.13 (this is %d.%d); try: make PYTHON=python3.12 ..." % v)'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable ".[test]"
	touch $@

clean:
	rm -rf .venv build dist *.egg-info
