# The front door; `make` alone prints this list.
PYTHON ?= python3
BUNDLE := .venv/bundle/bin/python
DEV := .venv/dev/bin/python
UV := .venv/tool/bin/uv
# With the settings of the embedded default; a container has its own.
ENGINE = BUNDLE_ENGINE_PYTHON=$${BUNDLE_ENGINE_PYTHON:-$(CURDIR)/.venv/engine-cpu/bin/python}
EMBEDDED = BUNDLE_MODEL=$${BUNDLE_MODEL:-smollm2-135m-instruct} \
  BUNDLE_RUN_DIR=$${BUNDLE_RUN_DIR:-var/run}

.DEFAULT_GOAL := help
.PHONY: help up down doctor smoke bench accuracy consistency weights convert
.PHONY: test lint unit monitoring process container test-engines image bundle-offline generate lock clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

up: ## install, fetch, serve and prove the model on this host
	@$(PYTHON) -m scripts.install bundle
	@$(BUNDLE) -m scripts.up

down: ## stop what `make up` started; leaves no process
	@$(PYTHON) -m scripts.install bundle
	@$(BUNDLE) -m scripts.down

doctor: ## whether this host can serve, and what is in the way
	@$(PYTHON) -m scripts.install bundle
	@$(EMBEDDED) $(ENGINE) BUNDLE_WEIGHTS_DIR=$${BUNDLE_WEIGHTS_DIR:-var/models} \
	  BUNDLE_LISTEN_ADDRESS=127.0.0.1 \
	  $(BUNDLE) -m scripts.doctor

smoke: ## prove the running server again; the exit code is the verdict; SUITE=standard
	@$(PYTHON) -m scripts.install bundle
	@$(EMBEDDED) $(BUNDLE) -m scripts.smoke --suite $${SUITE:-quick} --out var/report

accuracy: ## GSM8K on the running server against the published score; LIMIT=200 for less
	@$(PYTHON) -m scripts.install bundle
	@$(EMBEDDED) $(BUNDLE) -m scripts.accuracy gsm8k $(if $(LIMIT),--limit $(LIMIT))

consistency: ## REFERENCE=url or RECORDED=file: does the server answer as that one does
	@$(PYTHON) -m scripts.install bundle
	@$(EMBEDDED) $(BUNDLE) -m scripts.consistency \
	  $(if $(REFERENCE),--reference $(REFERENCE)) $(if $(RECORDED),--recorded $(RECORDED))

bench: ## the base point 512/128 at 4 requests a second; ARGS="--request-rate 1" on a CPU
	@$(PYTHON) -m scripts.install bundle
	@$(EMBEDDED) $(BUNDLE) -m scripts.benchmark $(ARGS)

weights: ## fetch, verify and convert the weights, without serving
	@$(PYTHON) -m scripts.install bundle engine-cpu
	@$(EMBEDDED) $(ENGINE) BUNDLE_WEIGHTS_DIR=$${BUNDLE_WEIGHTS_DIR:-var/models} \
	  $(BUNDLE) -m scripts.weights fetch

convert: ## SOURCE=folder TARGET=folder: a Qwen-1 checkpoint into the native form
	@$(PYTHON) -m scripts.install bundle engine-cpu
	@$(ENGINE) $(BUNDLE) -m scripts.weights convert $(SOURCE) $(TARGET)

test: lint unit monitoring process ## lint and tests, without containers (20 minutes on 2 cores)

lint: dev ## ruff with every rule, mypy strict, generated files fresh
	$(DEV) -m ruff check .
	$(DEV) -m ruff format --check .
	$(DEV) -m mypy
	$(DEV) -m tests.generate --check
	@if [ -x .venv/dev/bin/hadolint ]; then .venv/dev/bin/hadolint Dockerfile; \
	  else echo "SKIPPED hadolint: no package for this architecture"; fi

unit: dev ## pure functions, seconds
	$(DEV) -m pytest tests/unit tests/test_repo.py

monitoring: dev ## real Prometheus, Alertmanager and Chromium (4 minutes)
	$(DEV) -m pytest tests/monitoring

process: dev ## real processes, the real engine on the CPU
	@$(PYTHON) -m scripts.install engine-cpu
	$(DEV) -m pytest tests/process

container: dev ## build the images and run the stack in a real Docker (25 minutes)
	$(DEV) -m pytest tests/container

test-engines: dev ## the native form on a current engine too; fetches another one
	@$(PYTHON) -m scripts.install engine-cpu engine-next
	$(DEV) -m pytest tests/engines

image: ## build the server, exporter and smoke images for an Ascend host
	docker compose build server exporter smoke

bundle-offline: ## all images and files in one archive, for a host without a network
	@$(PYTHON) -m scripts.install bundle
	$(BUNDLE) -m scripts.offline var/offline.tar

generate: dev ## write the files that are derived from code
	$(DEV) -m tests.generate

lock: ## resolve requirements/*.txt anew
	@$(PYTHON) -m scripts.install tool
	sh requirements/lock.sh $(UV)

clean: down ## stop, and remove environments, weights, caches and reports
	rm -rf .venv var

.PHONY: dev
dev:
	@$(PYTHON) -m scripts.install dev
