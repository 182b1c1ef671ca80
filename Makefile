# The same names run on a desk and in CI. `make` alone says what there is.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
PIP := $(BIN)/python $(PIP_INSTALL)
# Tests start many processes; none of them compiles the same modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: soak-ready soak-untimed soak-timed clients web-tools coverage shape chromium tesseract speech chainlit models web help setup dev demo test lint types docs docs-check lock bench soak eval format clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/' | column -t -s '	'

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "quoth needs Python 3.11 or newer; none was found."; exit 1; }
	@$(PYTHON) -m venv .venv || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && rm -rf .venv && apt-get update -q && \
		apt-get install -y -q python3-venv && $(PYTHON) -m venv .venv; }

.venv/.ready: requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing the pinned packages (0.8 GB, once) …"
	@$(PIP) --require-hashes --requirement requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# Holds what the other lock holds, so that one installation will do.
.venv/.ready-dev: requirements-dev.lock requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing the pinned packages with the tools of developers (once) …"
	@# Compiling all modules would take as long as unpacking them; those used are soon compiled.
	@$(PIP) --no-compile --require-hashes --requirement requirements-dev.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch .venv/.ready $@

setup: .venv/.ready ## create the environment from the lock file
dev: .venv/.ready-dev ## the same with the tools that developers use

demo: setup ## set up, add the sample collection, answer three questions
	@$(BIN)/python examples/demo.py

web: setup ## serve the sample collection over HTTP
	@$(BIN)/quoth --home .demo --quiet add examples/hf-course
	@$(BIN)/quoth --home .demo serve

test: ## everything that must hold: lint, types, docs, tests
	@$(MAKE) --no-print-directory -j3 dev chromium tesseract web-tools .venv-lint/.ready
	@$(MAKE) --no-print-directory -j2 types lint docs-check models
	@$(BIN)/pytest -n 3 --dist worksteal

coverage: dev chromium models ## the tests once more, with the lines that they run
	@$(BIN)/coverage erase
	@$(BIN)/pytest -n 3 --dist worksteal --cov --cov-report=
	@$(BIN)/coverage report

shape: dev ## size of the code, names used twice, calls of one question
	@$(BIN)/python scripts/shape.py

models: dev ## build and fetch the models that tests use
	@$(BIN)/quoth --quiet models build
	@$(BIN)/python tests/support/fetch_models.py

# A program that tests need: its command, its packages of Debian, and what is skipped without it.
define debian
	@command -v $(1) >/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
		apt-get install -y -qq --no-install-recommends $(2) >/dev/null; } || \
		echo "There is no $(1) here: the tests of $(3) are skipped."
endef

chromium: | .venv/bin/python
	$(call debian,chromium-headless-shell,chromium-headless-shell,pages in a browser without chromium)

tesseract: | chromium
	$(call debian,tesseract,tesseract-ocr tesseract-ocr-fra,scanned pages)

# Beside the voice, the weights that hear it (MIT).
speech: dev | tesseract
	$(call debian,espeak-ng,espeak-ng,spoken lectures)
	@$(BIN)/python tests/support/fetch_models.py speech
	@$(BIN)/python tests/support/fetch_models.py speech moonshine-base

# What checks the house rules does not go together with our own packages.
.venv-lint/.ready: requirements-lint.lock | .venv/bin/python
	@$(PYTHON) -m venv .venv-lint
	@.venv-lint/bin/python $(PIP_INSTALL) --no-compile --require-hashes --only-binary :all: \
		--requirement requirements-lint.lock
	@touch $@

lint: dev .venv-lint/.ready ## style and house rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@.venv-lint/bin/semgrep scan --config rules --exclude rules --metrics=off \
		--disable-version-check --error --quiet src
	@.venv-lint/bin/hadolint deploy/Containerfile

types: dev web-tools ## static types
	@$(BIN)/mypy
	@if test -x .venv-web/node_modules/.bin/tsc; then .venv-web/node_modules/.bin/tsc; fi

# The web app runs without npm; its types and its accessibility are checked where npm is there.
web-tools:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory .venv-web/.ready; \
	else echo "There is no npm here: types and accessibility of the web app are not checked."; fi

.venv-web/.ready: Makefile
	@npm install --silent --no-audit --no-fund --ignore-scripts --prefix .venv-web \
		typescript@7.0.2 axe-core@4.14.1
	@touch $@

docs: dev ## write the generated pages
	@$(BIN)/python docs/generate.py

docs-check: dev ## fail when a generated page is stale
	@$(BIN)/python docs/generate.py --check

format: dev ## put the code into its form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

EVAL_DATA ?= ../shared/data
eval: dev ## measure retrieval on the evaluation sets (EVAL_DATA=folder)
	@$(BIN)/python scripts/results_table.py --data $(EVAL_DATA) --home .demo --again
	@$(BIN)/quoth --home .demo eval ingest $(EVAL_DATA)/pdfs
	@$(BIN)/quoth --home .demo eval understanding eval/understanding
	@$(BIN)/quoth --home .demo eval conversation eval/conversation --corpus tests/data/hf-course
	@for part in . dev heldout; do $(BIN)/quoth --home .demo eval cache eval/cache/$$part; done
	@for part in dev heldout; do $(BIN)/quoth --home .demo eval answers eval/answers/$$part; done
	@for set in . manuals handbooks; do $(BIN)/quoth --home .demo eval people eval/people/$$set; done
	@$(BIN)/quoth --home .demo eval verify $(EVAL_DATA)/scifact --split heldout

bench: dev ## measure quoth beside its peers, as ratios in one run
	@$(BIN)/python -m bench

.venv-chainlit/.ready: requirements-chainlit.lock pyproject.toml | .venv/bin/python
	@$(PYTHON) -m venv .venv-chainlit
	@.venv-chainlit/bin/python $(PIP_INSTALL) --require-hashes \
		--requirement requirements-chainlit.lock
	@.venv-chainlit/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

chainlit: .venv-chainlit/.ready ## make the environment of the Chainlit page

# Generators of clients, and what a client in TypeScript needs; without npm its test is skipped.
.venv-clients/.ready: Makefile | .venv/bin/python
	@$(PYTHON) -m venv .venv-clients
	@.venv-clients/bin/python $(PIP_INSTALL) openapi-python-client==0.29.1
	@if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --ignore-scripts \
		--prefix .venv-clients openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3; fi
	@touch $@

clients: .venv-clients/.ready ## install the generators of clients that the long tests run

soak: soak-untimed soak-timed ## the long tests, and 200 examples for every property

soak-ready: dev tesseract web-tools chainlit models clients speech

soak-untimed: soak-ready ## those long tests that may run two at a time
	@TEST_EXAMPLES=200 $(BIN)/pytest -n 2 --dist worksteal -m "(soak or hypothesis) and not timed" --timeout 7200

soak-timed: soak-ready ## those long tests that measure time or memory, one after the other
	@$(BIN)/pytest -m timed --timeout 7200

# Extras stay in the pins: pip else looks for the newest release of "coverage[toml]" and refuses it.
lock: ## write the lock files from pyproject.toml (needs uv)
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --no-annotate --extra build --extra mcp pyproject.toml \
		-o requirements.lock
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --no-annotate --extra eval --extra build --extra mcp --extra dev --extra llm --extra office --extra ocr --extra postgres --extra youtube --extra watch --extra speech \
		--extra sqlite-vec --extra chroma --extra pinecone --extra remote \
		pyproject.toml --constraint requirements.lock -o requirements-dev.lock
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --no-annotate --extra build --extra mcp --extra postgres --extra llm \
		--extra office --extra watch pyproject.toml --constraint requirements-dev.lock -o requirements-container.lock
	@printf 'semgrep\nhadolint-bin\n' | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --no-annotate - -o requirements-lint.lock
	@uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --no-annotate --extra chainlit --extra build pyproject.toml \
		-o requirements-chainlit.lock

clean: ## remove what was made here
	@rm -rf .venv .venv-lint .venv-chainlit .venv-clients .venv-web .demo .coverage* .mypy_cache .ruff_cache .pytest_cache
