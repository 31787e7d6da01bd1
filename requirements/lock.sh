#!/bin/sh
# Resolve every lock for Python 3.10 to 3.12 on Linux x86_64 and aarch64: `make lock`.
set -eu
uv=$1
cd "$(dirname "$0")/.."
lock() {
  name=$1
  shift
  "$uv" pip compile --quiet --universal --python-version "${python:-3.10}" --generate-hashes \
    --no-emit-index-url --custom-compile-command "make lock" \
    "$@" --output-file "requirements/$name.txt"
}
lock tool requirements/tool.in
lock bundle pyproject.toml
# The tests run our code with the versions that are deployed.
lock dev pyproject.toml requirements/similarity.in --extra dev --constraints requirements/bundle.txt
lock similarity requirements/similarity.in --constraints requirements/dev.txt
lock engine-cpu requirements/engine-cpu.in --overrides requirements/engine-cpu.overrides
# This release needs Python 3.11.
python=3.11 lock engine-next requirements/engine-next.in --overrides requirements/engine-next.overrides
# Built from source in the image, in this order: needs, vLLM without kernels, the plugin.
lock engine-cann requirements/engine-cann.in --overrides requirements/engine-cann.overrides \
  --no-emit-package vllm --no-emit-package vllm-ascend
lock engine-cann-vllm requirements/engine-cann-vllm.in --no-deps
lock engine-cann-ascend requirements/engine-cann-ascend.in --no-deps
