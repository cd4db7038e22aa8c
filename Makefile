# `make reproduce` and `make test` do all set-up on a fresh machine. `make help` lists the targets.
# PYTHON=/path/to/python3.12 chooses the Python that .venv is made with.

PYTEST_ARGS ?= -n 2 --dist loadfile
READY := .venv/.ready
READY_LOCAL := .venv/.ready-local
READY_BENCH := .venv/.ready-bench
in_venv := PATH="$(CURDIR)/.venv/bin:$$PATH"
# A broken link, anchor or docstring is a warning, and a warning an error.
site = $(in_venv) sphinx-build -q -W --keep-going -c docs -d build/doctrees . build/site

# A .venv that no longer runs this project (its Python removed, the folder moved) is made anew.
works := $(shell .venv/bin/python -c 'import os, moralscale as m; \
	print(os.path.samefile(m.__file__, "src/moralscale/__init__.py"))' 2>/dev/null)
ifneq ($(works),True)
$(shell rm -f $(READY))
endif

.PHONY: help reproduce local test coverage bench lint docs dist environment generate lock clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1:/p' Makefile | awk -F: '{printf "make %-12s %s\n", $$1, $$2}'

reproduce: $(READY)  ## the whole reproduction, from scenes to figures (no key needed)
	$(in_venv) snakemake --cores all

local: $(READY) $(READY_LOCAL)  ## the same on real answers of a small open-weight model, no key needed
	$(in_venv) snakemake --cores all --configfile config/local.yaml

# Draws follow the hash seed, so it is fixed here as in workflow/Snakefile.
test: $(READY)  ## all tests
	$(in_venv) PYTHONHASHSEED=0 pytest $(PYTEST_ARGS)

coverage: $(READY)  ## all tests, and which lines of src none of them ran; at least 90% must be
	@mkdir -p build && rm -f build/coverage*
	$(in_venv) PYTHONHASHSEED=0 coverage run -m pytest $(PYTEST_ARGS)
	$(in_venv) coverage combine -q || true  # a process that a test killed leaves half a file
	$(in_venv) coverage report

bench: $(READY) $(READY_BENCH)  ## the study's posterior, and rating, by this project and by others; an hour
	$(in_venv) python benchmarks/fit.py --write
	$(in_venv) python benchmarks/rate_peers.py --write

lint: $(READY)  ## style, types, import layers, workflow, Dockerfile, spelling, links of the documentation
	$(in_venv) ruff check .
	$(in_venv) ruff format --check .
	$(in_venv) mypy
	$(in_venv) lint-imports --no-logo
	$(in_venv) snakefmt --check Snakefile workflow
	$(in_venv) snakemake --lint
	$(in_venv) hadolint Dockerfile
	$(in_venv) codespell
	$(site)

docs: $(READY)  ## the documentation as a site, build/site/index.html
	$(site)

dist: $(READY)  ## wheel and source distribution, checked, in dist/
	@rm -rf dist
	$(in_venv) python -m build --no-isolation
	$(in_venv) twine check --strict dist/*

environment: $(READY)  ## .venv alone

$(READY): requirements.lock pyproject.toml
	@python=$$(PYTHON="$(PYTHON)" sh .ci/find-python) && "$$python" tools/environment.py

$(READY_LOCAL): requirements-local.lock $(READY)
	@.venv/bin/python tools/environment.py local

$(READY_BENCH): requirements-benchmarks.lock $(READY)
	@.venv/bin/python tools/environment.py benchmarks

generate: $(READY)  ## environment.yml, workflow/schemas and the tables of config/README.md
	$(in_venv) python tools/generate.py

# The locks record hashes and no download addresses, so that any mirror serves.
lock_venv := build/lock-venv
compile := $(lock_venv)/bin/uv pip compile --quiet --universal --python-version 3.12 \
	--generate-hashes --no-emit-index-url --custom-compile-command "make lock"

lock:  ## pin packages anew after a change of dependencies (UPGRADE=--upgrade: the newest of all)
	@python=$$(PYTHON="$(PYTHON)" sh .ci/find-python) && "$$python" -m venv --clear $(lock_venv)
	@$(lock_venv)/bin/python -m pip -qq install uv
	$(compile) $(UPGRADE) pyproject.toml --group dev -o requirements.lock
	$(compile) $(UPGRADE) --group benchmarks -c requirements.lock -o requirements-benchmarks.lock
	$(compile) $(UPGRADE) --group local --no-deps -o requirements-local.lock
	@rm -rf $(lock_venv)

clean:  ## remove .venv and caches; results and journals stay
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests tools workflow -name __pycache__ -type d -prune -exec rm -rf {} +
