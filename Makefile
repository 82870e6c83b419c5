# One command each: `make demo` shows it, `make test` proves it. Both set everything up by themselves.
# What is set up, and how, is in tests/parts; what is tested, in tests and beside the code.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
CARGO ?= cargo
# Cargo's own variable moves the whole build; without it, everything is in ./target.
CARGO_TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
export CARGO_TARGET_DIR

# A machine that has the pinned version under the name `stable` alone need not fetch it again, and may not be able to.
PINNED := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
ifndef RUSTUP_TOOLCHAIN
ifeq (,$(filter $(PINNED) $(PINNED)-%,$(shell rustup toolchain list 2>/dev/null)))
ifneq (,$(findstring rustc $(PINNED) ,$(shell rustup run stable rustc --version 2>/dev/null)))
export RUSTUP_TOOLCHAIN := stable
endif
endif
endif

WASM_TARGET := wasm32-wasip1
MODULE := $(CARGO_TARGET_DIR)/$(WASM_TARGET)/release/sentinel_filter.wasm
SERVICE := $(CARGO_TARGET_DIR)/release/embedding-service
# What the console's page Replay runs in the browser. It is built first, and the service takes it in: embedding-service/build.rs.
export SENTINEL_REPLAY_CORE := $(CARGO_TARGET_DIR)/$(WASM_TARGET)/release/sentinel_console_replay.wasm
# What is tested keeps its debug assertions and checks of overflow.
TESTED_SERVICE := $(CARGO_TARGET_DIR)/debug/embedding-service
MODULE_LIMIT := 1500000
PARTS := $(CURDIR)/.parts

# The service's profile is quick to build; the module runs on every request and gets more. Level 3 would
# inline it beyond its limit of size. Link-time optimisation is an option of the last crate alone: as a part of the profile
# it would have every macro built twice, once for the filter and once for the service.
FILTER_PROFILE := CARGO_PROFILE_RELEASE_OPT_LEVEL=2 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1

# After rustc, Binaryen makes the module a tenth smaller, and puts the functions of a request beside each other.
OPTIMISE := $(PYTHON) filter/wasm-opt/optimise.py "$(MODULE)" "$${NODE_BIN:-$(PARTS)/node/bin/node}" "$(PARTS)/wasm-opt/wasm-opt"

# The service and the programs of tools/ are built as one set, whichever of them is wanted: Cargo gives a crate the features that
# the set wants, and would build most of the tree again for another set.
PROGRAMS := $(CARGO) build --release -p embedding-service -p sentinel-tools

# A new user waits for the builds of `make demo` and `make up`. The profile `quick` makes them shorter.
QUICK := $(CARGO_TARGET_DIR)/quick

# The programs of a bench are clients and providers that must not be what is measured.
FASTER := $(foreach crate,harness wire tools,--config 'profile.release.package.sentinel-$(crate).opt-level=2')

# Clippy looks at the crates of the workspace while they are built for the tests: for itself it would have everything else built
# once more. What only a second build needs takes a third of the first one's time for our own crates, so it is left out. Nobody's
# other builds are touched: for Cargo what clippy has built is something else.
LINTED := CARGO_INCREMENTAL=0 RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings

# Where the programs find the parts, unless the user has said so. Only for the commands that run something:
# for set-up a variable that is set means "the user brings their own".
RUN = ENVOY_BIN="$${ENVOY_BIN:-$(PARTS)/envoy/envoy}" \
	REDIS_SERVER="$${REDIS_SERVER:-$(PARTS)/redis/redis-server}" \
	REDISEARCH_SO="$${REDISEARCH_SO:-$(PARTS)/redis/redisearch.so}" \
	LIMITADOR_BIN="$${LIMITADOR_BIN:-$(PARTS)/limitador/limitador-server}" \
	ORT_DYLIB_PATH="$${ORT_DYLIB_PATH:-$(PARTS)/onnxruntime/libonnxruntime.so}" \
	LOOP_EMBEDDING_MODEL_PATH="$${LOOP_EMBEDDING_MODEL_PATH:-$(PARTS)/model/model.onnx}" \
	NODE_BIN="$${NODE_BIN:-$(PARTS)/node/bin/node}" \
	SENTINEL_WASM="$${SENTINEL_WASM:-$(MODULE)}" \
	SENTINEL_SERVICE="$${SENTINEL_SERVICE:-$(SERVICE)}"

# The program that judges what is shipped, likewise.
DENY := CARGO_DENY_BIN="$${CARGO_DENY_BIN:-$(PARTS)/cargo-deny/cargo-deny}"

# Where the book goes.
SITE := $(CARGO_TARGET_DIR)/site

.PHONY: help check check-up experiment-asked setup guard-model operations frameworks console filter replay-core service build size test test-programs demo demo-programs quick up shipping dist release containers podman arm64 deny advisories bench experiment eval eval-cache eval-guard render docs book fmt fmt-check lint clean

help: ## Show the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

# Set-up waits for the network and for one processor: `make demo` and `make test` build meanwhile. $(1): the parts that
# are wanted; $(2): what is made meanwhile, `filter` last or beside the rest: it waits for a part.
define while_parts_come
@$(PYTHON) tests/parts/setup.py wasm-target
@$(PYTHON) tests/parts/setup.py $(1) & parts=$$!; \
	$(MAKE) --no-print-directory PARTS_BY_OTHERS=1 $(2) || { kill $$parts 2>/dev/null; wait $$parts; exit 1; }; \
	wait $$parts
endef
# What builds and runs the product, and no client of it.
PARTS_OF_DEMO := node wasm-opt envoy onnxruntime redis weights model-tools model

# $(1): of demo, up and test those that are looked at.
define check_machine
@command -v "$(PYTHON)" >/dev/null || { echo 'check: there is no $(PYTHON); install Python 3.11 to 3.13, or say which: make PYTHON=python3.12 ...' >&2; exit 1; }
@$(PYTHON) tests/parts/check.py $(1)
endef

check: ## Say all that this machine lacks for `make demo`, `make up` and `make test`
	$(call check_machine,demo up test)
	@echo "check: nothing is missing"

check-up:
	$(call check_machine,up)

setup: ## Fetch Envoy, ONNX Runtime, Redis, the SDK clients; build the model (all below .parts)
ifndef PARTS_BY_OTHERS
	@echo "== set-up of the parts"
	@$(PYTHON) tests/parts/setup.py
endif

operations: setup ## Fetch what only the tests of k8s/ use: kubectl, Helm, schemas, Prometheus, Alertmanager
	@$(PYTHON) tests/parts/setup.py kubectl helm kubernetes-validate kubernetes-types prometheus

frameworks: setup ## Fetch the agent frameworks and coding agents that the tests run
	@$(PYTHON) tests/parts/setup.py frameworks-python frameworks-node coding-agents

guard-model: ## Fetch the model of the input guard's second opinion
	@$(PYTHON) tests/parts/setup.py guard-model

console: setup ## Fetch what the test of the console drives: Chromium, playwright-core, axe-core
	@$(PYTHON) tests/parts/setup.py chromium browser-node

filter: setup ## Build the filter for Envoy (WebAssembly, release)
	@echo "== filter"
	@$(FILTER_PROFILE) $(CARGO) rustc --release -p sentinel-filter --lib --target $(WASM_TARGET) -- -C lto=fat
	@$(PYTHON) tests/parts/setup.py node wasm-opt
	@$(OPTIMISE)

replay-core: setup ## Build the core of the console's page Replay (WebAssembly)
	@echo "== core of the page Replay"
	@$(FILTER_PROFILE) $(CARGO) rustc --release -p sentinel-console-replay --lib --target $(WASM_TARGET) -- -C lto=fat -C opt-level=s

service: replay-core ## Build the embedding service (release)
	@echo "== embedding service"
	@$(PROGRAMS) --bin embedding-service

build: filter service ## Build both

size: filter
	@size=$$(stat -c %s "$(MODULE)"); echo "== filter module: $$size bytes of $(MODULE_LIMIT)"; \
	if [ "$$size" -gt $(MODULE_LIMIT) ]; then \
		echo "the filter module is larger than $(MODULE_LIMIT) bytes: $(MODULE)" >&2; exit 1; fi

test: SERVICE := $(TESTED_SERVICE)
test: ## Set up, check format and lints, build, run every test
	$(call check_machine,test)
	@echo "== set-up of the parts; meanwhile format, lints and builds"
	$(call while_parts_come,all,-j2 fmt-check test-programs size)
	@$(MAKE) --no-print-directory PARTS_BY_OTHERS=1 book deny
	@echo "== tests"
	@$(RUN) $(DENY) $(LINTED) $(PYTHON) tests/run.py

test-programs: replay-core
	@echo "== lints and builds for the tests"
	@$(LINTED) $(CARGO) build --workspace --all-targets

shipping: SERVICE := $(TESTED_SERVICE)
shipping: filter test-programs deny ## Test what is shipped: dependencies, compose.yaml, the archive
	@echo "== tests of what is shipped"
	@$(PYTHON) tests/parts/setup.py kubernetes-validate cyclonedx compose
	@$(RUN) $(DENY) $(PYTHON) tests/shipping/test_shipping.py

demo: SERVICE := $(QUICK)/embedding-service
demo: ## Set up, build and play the main job on the real Envoy
	$(call check_machine,demo)
	@echo "== set-up of the parts; meanwhile the builds"
	$(call while_parts_come,$(PARTS_OF_DEMO),-j2 filter demo-programs)
	@$(RUN) $(QUICK)/demo

QUICK_BUILD := $(CARGO) build --profile quick -p embedding-service -p sentinel-tools --bin embedding-service --bin demo --bin up

# A minute sooner: nobody replays a file while the demo plays, so its console goes without that page.
demo-programs:
	@echo "== embedding service, demo and up"
	@SENTINEL_REPLAY_CORE= $(QUICK_BUILD)

quick: replay-core
	@echo "== embedding service with its whole console, demo and up"
	@$(QUICK_BUILD)

up: SERVICE := $(QUICK)/embedding-service
up: check-up filter quick ## Start the stack and keep it up: before the mock, or PROVIDER=https://api.openai.com
	@echo "== stack"
	@$(RUN) $(QUICK)/up

dist: setup ## Pack module, service, model, bootstraps and documents into one archive (dist/)
	@$(PYTHON) tests/parts/setup.py cyclonedx
	@echo "== archive"
	@$(RUN) $(PYTHON) tests/shipping/dist.py --target "$(CARGO_TARGET_DIR)/dist"

release: ## Archive and images of this version: REGISTRY=registry.you.org/team [PUSH=1] [BUILDER=podman]
	@$(if $(REGISTRY),,echo 'release: say where the images go: make release REGISTRY=registry.you.org/team' >&2; exit 2)
	@$(MAKE) --no-print-directory dist
	@echo "== images"
	@$(PYTHON) tests/shipping/images.py --registry "$(REGISTRY)" $(if $(PUSH),--push) $(if $(BUILDER),--builder "$(BUILDER)")

containers: podman operations dist ## Build the images, run compose.yaml, the pods of k8s/overlays/standalone and the archive (root, podman)
	@echo "== containers"
	@$(PYTHON) tests/parts/setup.py compose limitador
	@$(RUN) $(PYTHON) tests/containers/run.py

podman:
	@$(PYTHON) tests/containers/podman.py

arm64: replay-core ## Build the service for 64-bit Arm; its kernels, vectors and start under emulation (Debian)
	@$(PYTHON) tests/parts/setup.py arm64-tools onnxruntime-arm64 weights model-tools model
	@rustup target add aarch64-unknown-linux-gnu
	@echo "== arm64"
	@$(RUN) ORT_DYLIB_PATH= $(PYTHON) tests/arm64/run.py

# The processor time alone is measured without the service.
bench: filter replay-core $(if $(filter-out cpu hostile passes,$(or $(subst ;, ,$(BENCH_ONLY)),all)),service) ## Measure what the filter adds, against the same Envoy without it
	@echo "== bench"
	@$(PROGRAMS) --bin bench $(FASTER)
	@$(RUN) $(CARGO_TARGET_DIR)/release/bench

# By itself it needs no part.
eval: $(if $(findstring --through-envoy,$(ARGS)),filter) $(if $(findstring --with-service,$(ARGS)),service) ## Replay recorded runs: TRACES=runs.jsonl [OUT=dir] [ARGS="..."; --help lists them]
	@$(if $(TRACES),,echo 'eval: say which runs: make eval TRACES=runs.jsonl [OUT=dir] [ARGS="--dialect anthropic"]' >&2; exit 2)
	@echo "== replay"
	@$(RUN) $(CARGO) run --release -p sentinel-replay --bin eval -- "$(TRACES)" $(if $(OUT),--out "$(OUT)") $(ARGS)

eval-cache: replay-core setup ## Judge pairs of prompts as the response cache would: FILE=pairs.jsonl [OUT=dir] [ARGS="--threshold 0.9"]
	@$(if $(or $(FILE),$(PAIRS)),,echo 'eval-cache: say which pairs: make eval-cache FILE=pairs.jsonl [OUT=dir]' >&2; exit 2)
	@echo "== response cache: what would be served"
	@$(PROGRAMS) --bin eval-cache
	@$(RUN) $(CARGO_TARGET_DIR)/release/eval-cache "$(or $(FILE),$(PAIRS))" $(if $(OUT),--out "$(OUT)") $(ARGS)

eval-guard: setup guard-model ## Texts through the input guard and its second opinion: TEXTS=texts.jsonl [OUT=dir] [ARGS="--threshold 0.9"]
	@$(if $(TEXTS),,echo 'eval-guard: say which texts: make eval-guard TEXTS=texts.jsonl [OUT=dir]' >&2; exit 2)
	@echo "== input guard"
	@$(PROGRAMS) --bin eval-guard
	@$(RUN) GUARD_MODEL_PATH="$${GUARD_MODEL_PATH:-$(PARTS)/guard-model}" $(CARGO_TARGET_DIR)/release/eval-guard "$(TEXTS)" $(if $(OUT),--out "$(OUT)") $(ARGS)

experiment-asked:
	@$(if $(and $(PROVIDER),$(MODEL)),,echo 'experiment: say which provider and model: make experiment PROVIDER=https://api.openai.com MODEL=gpt-4o-mini' >&2; exit 2)

experiment: SERVICE := $(QUICK)/embedding-service
experiment: experiment-asked check-up filter quick ## Ten tasks with a broken tool, with and without the gateway: PROVIDER=https://api.openai.com MODEL=gpt-4o-mini [RUNS=3] [OUT=dir] [ARGS="..."]
	@echo "== experiment"
	@$(RUN) $(PYTHON) tools/experiment/run.py --up "$(QUICK)/up" --direct "$(PROVIDER)" --model "$(MODEL)" $(if $(RUNS),--runs $(RUNS)) $(if $(OUT),--out "$(OUT)") $(ARGS)

docs: SERVICE := $(TESTED_SERVICE)
docs: filter test-programs book ## Make the book of docs/ and test links, anchors, code blocks, pictures and generated tables
	@$(PYTHON) tests/parts/setup.py prometheus
	@echo "== tests of the documents"
	@$(RUN) $(LINTED) $(CARGO) test --workspace --test docs --test reference --test documents
	@echo "the book: $(SITE)/docs/index.html"

# Its pages link to files of the repository: those lie beside it, as they do in the repository.
book:
	@echo "== book"
	@$(PYTHON) tests/parts/setup.py mdbook
	@rm -rf "$(SITE)" && mkdir -p "$(SITE)"
	@"$${MDBOOK_BIN:-$(PARTS)/mdbook/mdbook}" build docs --dest-dir "$(SITE)/docs"
	@grep -oh ']([.][.]/[^)#]*' docs/*.md | sed 's|^](../||' | sort -u | xargs cp --parents -t "$(SITE)"

render: ## Write the files of k8s/ and envoy/compose/ that are generated from envoy/ and k8s/fragments
	@echo "== render"
	@$(PYTHON) k8s/render.py
	@$(PYTHON) envoy/compose/render.py

fmt: ## Format the sources
	@$(CARGO) fmt --all

fmt-check:
	@echo "== format"
	@$(CARGO) fmt --all --check

lint: replay-core ## Check with clippy
	@echo "== lints"
	@$(CARGO) clippy --workspace --all-targets -- -D warnings

deny: ## Check the dependencies' licences and sources, and that none is banned (.deny.toml)
	@echo "== dependencies"
	@$(PYTHON) tests/parts/setup.py cargo-deny
	@export $(DENY); "$$CARGO_DENY_BIN" --locked check licenses bans sources

# By itself, and not part of `make test`: what it says changes from day to day, and the database comes from the network.
advisories: ## Check the dependencies against the database of known faults (fetches it)
	@$(PYTHON) tests/parts/setup.py cargo-deny
	@export $(DENY); "$$CARGO_DENY_BIN" --locked check advisories

clean: ## Remove what was built; the parts stay (remove .parts to fetch them again)
	@$(CARGO) clean
