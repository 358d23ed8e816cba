# Two commands do everything from a fresh clone: `make run` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
ROOMS := analysis circuit models sims
# Bytecode is made of what `biorrr learn` imports: it halves the time to the first table. Making it of all that is
# installed would take longer than installing.
IMPORTED := import brian2, h5netcdf, matplotlib.backends.backend_agg, matplotlib.pyplot, pandas, psutil, scipy.linalg, \
    threadpoolctl, tomli_w, tqdm, typer.rich_utils, xarray
INSTALL := $(BIN)/pip install --quiet --no-compile --editable

.PHONY: run test test-all test-pythons bench docs docs-serve lint types clean

run: .venv/installed
	$(BIN)/biorrr learn

# One process per core, each on one thread: more would wait for each other. A file's tests stay together, for they share
# what they build.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile

test: .venv/testing
	$(PYTEST)

test-all: .venv/testing
	$(BIN)/pip install --quiet build selenium axe-core-python
	$(PYTEST) -m "slow or not slow" --hypothesis-profile="new examples"

# All fast tests on each Python that biorrr is for and this machine has, with each Brian2 that it is tested with.
test-pythons:
	bash tests/pythons.sh fast

# Executes the tutorials too; one that needs the V1-V2 recordings is shown without results where they are not here.
docs: .venv/documenting
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Speed beside NumPy, numba, JAX, C and stock Brian2, in the tables of docs/speed.md; ROWS="settling help" prints some.
bench: .venv/testing
	$(INSTALL) ".[bench]"
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python tests/bench/bench.py $(ROWS)

docs-serve: .venv/documenting
	NO_MKDOCS_2_WARNING=1 BIORRR_EXECUTE_NOTEBOOKS=false $(BIN)/mkdocs serve

lint: .venv/developing types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/developing
	$(BIN)/mypy

.venv/installed: setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "biorrr needs Python 3.11, 3.12 or 3.13 (this is %d.%d); try: make PYTHON=python3.12 ..." % v)'
	$(PYTHON) -m venv .venv
	$(INSTALL) ".[cluster,nwb]"
	$(BIN)/python -m compileall -qq biorrr $(ROOMS)
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c "$(IMPORTED)"
	touch $@

# Tests start many processes, which may not be allowed to keep the bytecode they make: made here, on all cores. What
# does not compile are templates of code.
.venv/testing: .venv/installed
	$(INSTALL) ".[test,docs]"
	$(BIN)/python -m compileall -qq -j 0 .venv/lib || true
	touch $@

.venv/developing: .venv/testing
	$(INSTALL) ".[dev]"
	touch $@

.venv/documenting: .venv/installed
	$(INSTALL) ".[docs]"
	touch $@

clean:
	rm -rf .venv build dist *.egg-info
