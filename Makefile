# `make demo` and `make test` need python3 (3.11 or later) with venv, and git. They set up the rest.
PYTHON ?= python3
BIN := .venv/bin

# Tests that need only Python and git, each within seconds.
PLAIN := not (act or agents or browser or docker or repeated or slow)

.PHONY: demo test test-plain lint lock schemas prices bench clean description

demo: .venv/run
	$(BIN)/reb demo

test: .venv/dev description
	$(BIN)/pytest -n 2 --dist worksteal

test-plain: .venv/dev description
	$(BIN)/pytest -n 2 --dist worksteal -m "$(PLAIN)"

# GitHub's API description, from its npm package.
description: .venv/dev
	@$(BIN)/python tests/support/github_api/describe.py >/dev/null || \
		echo "could not fetch GitHub's API description: its tests will be skipped" >&2

lint: .venv/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/python schemas/generate.py --check
	$(BIN)/python repos/generate.py --check
	$(BIN)/check-jsonschema --check-metaschema schemas/*.schema.json
	$(BIN)/check-jsonschema --schemafile schemas/manifest.schema.json repos/*.yaml tests/demo/manifest.yaml
	$(BIN)/check-jsonschema --schemafile schemas/agent.schema.json reb_action/agents/definitions/*.yaml
	$(BIN)/check-jsonschema --schemafile schemas/contestants.schema.json examples/*-contestants.yaml
	$(BIN)/python docs/generate.py --check
	$(BIN)/actionlint .github/workflows/*.yml examples/*.yml
	$(BIN)/zizmor --offline --no-progress --quiet --persona pedantic --config .github/zizmor.yml . examples/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml */action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml

bench: .venv/dev
	$(BIN)/python -m tests.bench.all

# The locks pin every package by hash.
.venv/run: requirements.lock pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable .
	@touch $@

.venv/dev: requirements-dev.lock .venv/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than 3.11; choose another: make PYTHON=..."; exit 2; }
	$(PYTHON) -m venv .venv

lock: .venv/dev
	$(BIN)/uv pip compile -q --generate-hashes --universal --python-version 3.11 pyproject.toml --group build -o requirements.lock
	$(BIN)/uv pip compile -q --generate-hashes --universal --python-version 3.11 pyproject.toml --group dev -o requirements-dev.lock

schemas: .venv/dev
	$(BIN)/python schemas/generate.py

# The list is committed with its date; genai-prices is no dependency.
prices: .venv/dev
	$(BIN)/uv run --quiet --no-project --with genai-prices==0.2.3 python prices/generate.py

clean:
	rm -rf .venv .pytest_cache .ruff_cache results
