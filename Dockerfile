# One file for every image: `docker build --target server|server-slim|exporter|smoke .`
# Bases are arguments, so that a mirror, a digest or another release can be named.

# engine-ascend, engine-cann, engine-cpu, or any image that has vLLM 0.23.0.
ARG ENGINE=engine-ascend
# By card: "" for Atlas A2, -a3, -310p, -a5; append -openeuler for that system.
ARG FAMILY_SUFFIX=
ARG ASCEND_IMAGE=quay.io/ascend/vllm-ascend:v0.23.0.post1
ARG CANN_IMAGE=quay.io/ascend/cann:9.1.0-910b-ubuntu22.04-py3.12
ARG PYTHON_IMAGE=docker.io/library/python:3.12-slim-bookworm
# What the labels say of this build.
ARG VERSION=0.1.0
ARG SOURCE=
ARG REVISION=

# --- engines -----------------------------------------------------------------------

# CANN 9.1.0, vLLM 0.23.0, vllm-ascend, torch 2.10.0 and torch-npu, as upstream builds it.
FROM ${ASCEND_IMAGE}${FAMILY_SUFFIX} AS engine-ascend

# The same from bare CANN with our own lock, for a base that is built or mirrored at home.
# This stage is all of it that needs no CANN.
FROM ${CANN_IMAGE} AS engine-cann-packages
USER root
# triton-ascend calls clang; the plugin's kernels are compiled by cmake and g++.
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    clang-15 cmake g++ libjemalloc2 libnuma-dev make numactl \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/engine
COPY bundle/__init__.py bundle/errors.py bundle/toolchain.py bundle/visible.py bundle/
COPY scripts/__init__.py scripts/install.py scripts/
COPY requirements/with-secrets.sh requirements/tool.txt requirements/engine-cann*.txt requirements/
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip_conf \
  UV_NO_CACHE=1 sh requirements/with-secrets.sh python3 -m scripts.install engine-cann \
  && rm -rf .venv/tool
ENV PATH=/opt/engine/.venv/engine-cann/bin:$PATH
# Python only, no kernels; its own version would read 0.23.0+empty, which pip discards.
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip_conf \
  VLLM_TARGET_DEVICE=empty VLLM_VERSION_OVERRIDE=0.23.0 TORCH_DEVICE_BACKEND_AUTOLOAD=0 \
  sh requirements/with-secrets.sh python3 -m pip install --no-cache-dir --no-deps \
  --no-build-isolation --no-binary vllm --require-hashes -r requirements/engine-cann-vllm.txt \
  && TORCH_DEVICE_BACKEND_AUTOLOAD=0 python3 -c "import torch, transformers, vllm"

FROM engine-cann-packages AS engine-cann
# By card: ascend910b1 for Atlas A2, ascend910_9391 for A3, ascend310p1, ascend950dt_9582.
ARG SOC_VERSION=ascend910b1
# Huawei's package index, named in vLLM-Ascend's installation guide, or a mirror of it:
# triton-ascend 3.2.2 is nowhere else.
ARG ASCEND_INDEX
SHELL ["/bin/bash", "-c"]
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip_conf \
  source /usr/local/Ascend/ascend-toolkit/set_env.sh \
  && source /usr/local/Ascend/nnal/atb/set_env.sh \
  && export SOC_VERSION COMPILE_CUSTOM_KERNELS=1 TORCH_DEVICE_BACKEND_AUTOLOAD=0 \
  && install="sh requirements/with-secrets.sh python3 -m pip install --no-cache-dir --no-deps" \
  && $install --no-build-isolation --require-hashes -r requirements/engine-cann-ascend.txt \
  && if [[ $SOC_VERSION != ascend310p* ]]; then \
    : "${ASCEND_INDEX:?name the package index by --build-arg ASCEND_INDEX}" \
    && $install --extra-index-url "$ASCEND_INDEX" triton-ascend==3.2.2; fi \
  && python3 -c "import vllm, vllm_ascend"

# The same release of the same engine for a host without an NPU.
FROM ${PYTHON_IMAGE} AS engine-cpu
# vLLM's extension loads libnuma, and its compiler needs g++, also when eager.
RUN apt-get update \
  && apt-get install -y --no-install-recommends g++ libnuma1 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/engine
COPY bundle/__init__.py bundle/errors.py bundle/toolchain.py bundle/visible.py bundle/
COPY scripts/__init__.py scripts/install.py scripts/
COPY requirements/with-secrets.sh requirements/tool.txt requirements/engine-cpu.txt requirements/
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip_conf \
  UV_NO_CACHE=1 sh requirements/with-secrets.sh python3 -m scripts.install engine-cpu \
  && rm -rf .venv/tool
# Wherever the engine is, its Python is the first on the PATH.
ENV PATH=/opt/engine/.venv/engine-cpu/bin:$PATH
# A bad build fails here, not at the first start.
RUN python3 -c "import vllm._C, vllm.entrypoints.openai.api_server"

# --- the server, without weights and code ------------------------------------------

FROM ${ENGINE} AS server-base
USER root
# Device nodes are 0660 of uid and gid 1000 on the host, and torch-npu looks the uid up.
RUN getent group 1000 || groupadd --gid 1000 HwHiAiUser; \
  getent passwd 1000 || useradd --uid 1000 --gid 1000 --create-home HwHiAiUser; \
  install -d -o 1000 -g 1000 /run/bundle /var/cache/bundle /models
# The compile cache: mount a volume here, it halves the time to ready.
ENV VLLM_CACHE_ROOT=/var/cache/bundle/vllm
WORKDIR /opt/bundle
ENTRYPOINT ["/opt/bundle/entrypoint/cann.sh"]
EXPOSE 8000
STOPSIGNAL SIGTERM
# Ready means that a generation came back since the start; a cold start takes minutes.
HEALTHCHECK --interval=15s --timeout=40s --start-period=15m --retries=3 \
  CMD ["/opt/bundle/.venv/bundle/bin/python", "-m", "scripts.health", "ready"]

# Our packages in an environment of their own, never in the engine's Python.
FROM server-base AS server-environment
COPY bundle/__init__.py bundle/errors.py bundle/toolchain.py bundle/visible.py bundle/
COPY scripts/__init__.py scripts/install.py scripts/
COPY requirements/with-secrets.sh requirements/tool.txt requirements/bundle.txt requirements/
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip_conf \
  UV_NO_CACHE=1 sh requirements/with-secrets.sh python3 -m scripts.install bundle

# --- the weights, a layer that a change of our code does not move -------------------

FROM server-environment AS weights
ARG MODEL=qwen-1_8b-chat
COPY bundle/ bundle/
COPY scripts/weights/ scripts/weights/
COPY models/ models/
# Fixed times, so that the same weights are the same layer in every build.
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip_conf \
  BUNDLE_MODEL=${MODEL} TORCH_DEVICE_BACKEND_AUTOLOAD=0 sh requirements/with-secrets.sh \
  .venv/bundle/bin/python -m scripts.weights fetch \
  && find /models -name original -prune -exec rm -r {} + \
  && find /models -exec touch --no-dereference --date=@0 {} +

# --- what is shipped: code after everything that is large ---------------------------

# For those who mount the weights at /models.
FROM server-base AS server-slim
COPY --from=server-environment /opt/bundle/.venv/bundle .venv/bundle
COPY bundle/ bundle/
COPY entrypoint/ entrypoint/
COPY models/ models/
COPY scripts/ scripts/
ARG VERSION SOURCE REVISION
LABEL org.opencontainers.image.title="ascend-chat-bundle server" \
  org.opencontainers.image.version=${VERSION} \
  org.opencontainers.image.source=${SOURCE} \
  org.opencontainers.image.revision=${REVISION} \
  org.opencontainers.image.licenses="MIT"
USER 1000:1000

FROM server-base AS server
ARG MODEL=qwen-1_8b-chat
ENV BUNDLE_MODEL=${MODEL}
COPY --from=weights --chown=1000:1000 /models /models
COPY --from=server-environment /opt/bundle/.venv/bundle .venv/bundle
COPY bundle/ bundle/
COPY entrypoint/ entrypoint/
COPY models/ models/
COPY scripts/ scripts/
ARG VERSION SOURCE REVISION
# The licence of the weights is named in the file that the last label points to.
LABEL org.opencontainers.image.title="ascend-chat-bundle server with ${MODEL}" \
  org.opencontainers.image.version=${VERSION} \
  org.opencontainers.image.source=${SOURCE} \
  org.opencontainers.image.revision=${REVISION} \
  org.opencontainers.image.licenses="MIT AND LicenseRef-weights" \
  ascend-chat-bundle.weights.licence="/opt/bundle/models/${MODEL}/model.yaml"
USER 1000:1000
# 1: start the engine here, so that the image has a filled compile cache. An engine that
# needs a card cannot: no build has one.
ARG WARM=
RUN if [ "$WARM" = 1 ]; then .venv/bundle/bin/python -m scripts.warm; fi

# The exporter and the smoke test: small, no torch.
FROM ${PYTHON_IMAGE} AS light
RUN getent passwd 1000 || useradd --uid 1000 --create-home HwHiAiUser
WORKDIR /opt/bundle
# A volume that is mounted here takes its owner from here.
RUN install -d -o 1000 -g 1000 var var/report
COPY bundle/__init__.py bundle/errors.py bundle/toolchain.py bundle/visible.py bundle/
COPY scripts/__init__.py scripts/install.py scripts/
COPY requirements/with-secrets.sh requirements/tool.txt requirements/bundle.txt requirements/
RUN --mount=type=secret,id=ca --mount=type=secret,id=pip_conf \
  UV_NO_CACHE=1 sh requirements/with-secrets.sh python3 -m scripts.install bundle \
  && rm -rf .venv/tool
ENV PATH=/opt/bundle/.venv/bundle/bin:$PATH
COPY bundle/ bundle/
COPY models/ models/
USER 1000:1000

FROM light AS exporter
COPY monitoring/ monitoring/
COPY docs/runbook.md docs/runbook.md
EXPOSE 9810
STOPSIGNAL SIGTERM
HEALTHCHECK CMD ["python", "-c", "import requests; requests.get('http://127.0.0.1:9810/healthz', timeout=5).raise_for_status()"]
ARG VERSION SOURCE REVISION
LABEL org.opencontainers.image.title="ascend-chat-bundle exporter" \
  org.opencontainers.image.version=${VERSION} \
  org.opencontainers.image.source=${SOURCE} \
  org.opencontainers.image.revision=${REVISION} \
  org.opencontainers.image.licenses="MIT"
CMD ["python", "-m", "monitoring"]

FROM light AS smoke
COPY scripts/ scripts/
# 1: put GSM8K's test set into the image, for a host without a network.
ARG GSM8K=
RUN if [ "$GSM8K" = 1 ]; then python -m scripts.accuracy fetch; fi
ARG VERSION SOURCE REVISION
LABEL org.opencontainers.image.title="ascend-chat-bundle smoke" \
  org.opencontainers.image.version=${VERSION} \
  org.opencontainers.image.source=${SOURCE} \
  org.opencontainers.image.revision=${REVISION} \
  org.opencontainers.image.licenses="MIT"
CMD ["python", "-m", "scripts.smoke", "--out", "var/report"]
