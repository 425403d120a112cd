# What a fresh machine needs: make and Python 3.11 to 3.13. Everything else goes into .venv, from the lock file.
#
#   make quickstart   the main job on a small cluster
#   make test         the tests; T=tests/allocator chooses (also for golden and long)
#   make kubectl      a kubectl for the tests that read a cluster, from Debian's packages, if there is none
#   make check        format, lint, types, import rules, tests
#   make bench        the benchmarks, into benchmarks/RESULTS.md; B="pods hard" for some,
#                     BEFORE=CHECKOUT to run an earlier version beside
#   make golden       writes the kept texts (golden files) anew
#   make long         conformance runs, fuzzing and packaging, minutes long
#   make browser      pages in Chromium; installs Chromium (as root, with apt-get), playwright and npm's tools
#   make script       types and lint of the page's script
#   make fuzz         broken inputs through all commands; N=200000 says how many
#   make man          manual pages in build/man
#   make plugin       kubectl's plugin, a file for each platform, and krew's manifest; FROM=URL says where it will lie
#   make wheel sbom   what a release ships, byte for byte the same on every machine
#   make audit        known vulnerabilities of what is installed with dra-plan

VENV ?= .venv
BIN := $(VENV)/bin
# The first interpreter on PATH that is new enough; PYTHON=... chooses another.
PYTHON ?= $(shell for candidate in python3.13 python3.12 python3.11 python3 python; do \
	$$candidate -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 \
	&& echo $$candidate && break; done)
STAMP := $(VENV)/.installed

.PHONY: quickstart test kubectl check format lint types imports long browser script fuzz bench golden lock completions man licences audit wheel plugin sbom clean

quickstart: $(STAMP)
	$(BIN)/dra-plan allocate fixtures/quickstart

test: $(STAMP) kubectl
	$(BIN)/python -m pytest -n auto $(T)

# Some tests read from a server through a real kubectl: installs Debian's, if there is none and that is possible.
kubectl:
	@scripts/kubectl.sh

check: format lint types imports licences test

format: $(STAMP)
	$(BIN)/ruff format --check .

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/python -m scripts.names
	$(BIN)/python -m scripts.texts
	$(BIN)/python -m scripts.words

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

# Fails if something that is installed with dra-plan has a licence that is not on the list in scripts/licences.py.
licences: $(STAMP)
	$(BIN)/python -m scripts.licences

# Asks a public database; without a network it says so and passes (AUDIT=--strict: fails).
audit: $(STAMP)
	$(BIN)/python -m scripts.audit $(AUDIT)

long: $(STAMP) kubectl
	$(BIN)/python -m pytest -n auto --dist worksteal -m long --durations=10 $(T)

# Pages as people open them. Chromium is Debian's; the driver and what comes from the npm registry are locked.
browser: $(STAMP) script
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-browser.lock
	$(BIN)/python -m pytest -n auto --dist worksteal -m browser --durations=10 $(or $(T),tests/browser)

# The types and the style of the page's script and styles.
script:
	scripts/browser.sh build/browser
	build/browser/node_modules/.bin/tsc -p scripts/browser_tools
	build/browser/node_modules/.bin/biome ci --colors=off --config-path=scripts/browser_tools dra_plan/page/assets

# Broken inputs through all commands, N of them; says which broke a rule, with the seed.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzzing $(N)

bench: $(STAMP)
	BEFORE="$(BEFORE)" $(BIN)/python -m scripts.bench $(B)

# Rewrites every kept text from what the program prints now: read the difference before it is committed.
golden: $(STAMP)
	$(BIN)/python -m pytest -q -m golden --snapshot-update $(T)

completions: $(STAMP)
	for shell in bash zsh fish powershell; do $(BIN)/python -m tests.cli.completion_files $$shell; done

lock:
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group dev pyproject.toml -o requirements-dev.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group browser -c requirements-dev.lock -o requirements-browser.lock

man: $(STAMP)
	$(BIN)/python -m scripts.man_pages build/man

# Times in the archive are those of the last commit.
wheel: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1577836800)
wheel: $(STAMP)
	$(BIN)/python -m hatchling build -t wheel

# Archives for krew, in dist/plugin: a program that needs nothing but Python, for each platform.
plugin: $(STAMP)
	$(BIN)/python -m scripts.plugin dist/plugin $(if $(FROM),--from $(FROM))

# The bill of materials of what users get, from the lock file: CycloneDX, as JSON.
sbom: $(STAMP)
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --of JSON -o dist/dra-plan.cdx.json requirements.lock

clean:
	rm -rf $(VENV) dist build

$(STAMP): requirements-dev.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "dra-plan needs Python 3.11, 3.12 or 3.13 with its venv module; none is on PATH (PYTHON=... names one)" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
