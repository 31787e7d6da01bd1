#!/bin/bash
# What the CANN base image does in its own ENTRYPOINT, which ours replaces and which
# `command:` in Kubernetes passes by; the scripts read variables that are not set.
set +u
for script in /usr/local/Ascend/ascend-toolkit/set_env.sh \
  /usr/local/Ascend/cann-*/share/info/ascendnpu-ir/bin/set_env.sh \
  /usr/local/Ascend/nnal/atb/set_env.sh /opt/bundle/entrypoint/jemalloc.sh; do
  # shellcheck disable=SC1090
  [ -f "$script" ] && source "$script"
done
exec /opt/bundle/.venv/bundle/bin/python -m entrypoint "$@"
