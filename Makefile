# Needs Python 3.11, 3.12 or 3.13 and make; everything else is installed into .venv, here.
#   PYTHON=...  the interpreter that .venv is made with     UV=1  install with uv
#   Q=...       the question for `make ask`                 ARGS=...  more options for ask, bench or pytest

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PYTEST := $(PY) -m pytest -n 2 --dist worksteal

# The question travels through the environment: make must not expand it, and no shell may read it.
override Q := $(value Q)
export Q PYTHON UV
unexport PYTHONPATH PYTHONHOME
export NO_MKDOCS_2_WARNING := 1

# An environment is made anew when its Python is gone or the checkout has moved.
stamp = $(VENV)/.$(1)-ready
stale = $(if $(filter yes,$(shell test -x $(PY) && test "`cat $(call stamp,$(1)) 2>/dev/null`" = "`pwd -P`" && echo yes)),,stale)
RUN := $(call stamp,run)
DEV := $(call stamp,dev)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: ask asked bench check-docs clean docs help lint stale test test-all test-interpreted

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | while IFS='|' read -r target text; do printf '  %-15s %s\n' "$$target" "$$text"; done
	@echo '  variables       Q="..." ARGS="..." PYTHON=python3.12 UV=1'

ask: asked $(RUN) ## answer a question: make ask Q="..." [ARGS=--json]
	@$(PY) -m bmsql ask $(ARGS) -- "$$Q" || [ $$? -eq 3 ] # 3: it abstained, and said why

asked:
	@test -n "$$Q" || { echo 'usage: make ask Q="Which SNPs near BIN1 are significant for Alzheimer'"'"'s disease?" [ARGS=--json]' >&2; exit 2; }

test: lint check-docs ## lint, types, layers, documentation and the tests
	$(PYTEST) -m "not all" $(ARGS)

test-all: $(DEV) ## the tests with coverage, then those that need more than Python or take long
	$(PYTEST) -m "not all" --cov --cov-report=term $(ARGS)
	$(PYTEST) -m all $(ARGS)

INTERPRETED := $(CURDIR)/build/interpreted
test-interpreted: $(DEV) ## the tests of SQL with sqlglot interpreted, as it is without the extra `fast`
	rm -rf "$(INTERPRETED)"
	version=`$(PY) -c 'import sqlglot; print(sqlglot.__version__)'` && $(PY) -m pip install -qq --no-deps --no-compile \
		--no-input --disable-pip-version-check --target "$(INTERPRETED)" "sqlglot==$$version"
	PYTHONPATH="$(INTERPRETED)" $(PYTEST) -m "not all" tests/project/test_sqlglot.py tests/sql_validate tests/sql_duckdb \
		tests/conventions tests/planning $(ARGS)

lint: $(DEV) ## ruff, mypy --strict and the layer contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports --no-logo --no-cache

check-docs: $(DEV) ## fail if generated parts of the documentation are stale or the site does not build
	$(PY) scripts/gen_docs.py --check
	$(BIN)/mkdocs build --strict --quiet

docs: $(DEV) ## write the generated parts, run the notebooks and build the site into build/site
	$(PY) scripts/gen_docs.py
	$(PY) scripts/run_notebooks.py
	$(BIN)/mkdocs build --strict --quiet
	@echo 'open build/site/index.html'

bench: $(RUN) ## run the benchmarks
	@set -e; for benchmark in benchmarks/bench_*.py; do $(PY) "$$benchmark" $(ARGS); done

clean: ## remove .venv and everything that can be made again
	rm -rf $(VENV) build dist .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUN): pyproject.toml src/bmsql/_version.py $(call stale,run)
	@sh scripts/environment.sh run

$(DEV): pyproject.toml src/bmsql/_version.py $(call stale,dev)
	@sh scripts/environment.sh dev
