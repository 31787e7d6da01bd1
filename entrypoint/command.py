"""The engine's command line and environment, as data; nothing here runs anything."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from bundle.settings import PREFIX, SERVER_PORT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bundle.model import Family, Model, Serving
    from bundle.settings import Settings

# `vllm serve` needs a distribution called vllm, which the CPU build does not have.
_SERVER = ["-m", "vllm.entrypoints.openai.api_server"]
_QUIET = "/health,/metrics,/ping"  # probes and scrapes would fill the log


def vllm_argv(settings: Settings, model: Model, family: Family) -> list[str]:
    """Command line of the engine on `family`; the first word is its Python."""
    path = str(model.weights(settings.weights_dir, settings.weights_format))
    start = [settings.engine_python, *_SERVER, "--model", path]
    extra = shlex.split(settings.extra_args)
    if settings.preset == "reference":
        return [*start, *_reference_args(model), *extra]
    serving = model.serving[family]
    return [
        *start,
        *_address_args(settings, model),
        *_size_args(settings, model, serving),
        *_memory_args(settings, family),
        *_parallel_args(settings),
        *_format_args(settings),
        *serving.args,
        *extra,
    ]


def vllm_environ(
    settings: Settings,
    model: Model,
    family: Family,
    environ: Mapping[str, str],
    cpus: Sequence[int] = (),
) -> dict[str, str]:
    """Environment of the engine: the caller's without our settings, and the model's.

    What the operator has set wins over what `model.yaml` says. `cpus` are the numbers
    of those that this process may run on.
    """
    inherited = {k: v for k, v in environ.items() if not k.startswith(PREFIX)}
    engine = {
        # The weights lie on disk, and a server must not reach out for more.
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        # Our packages' names are plain words; keep them off the engine's import path.
        "PYTHONSAFEPATH": "1",
        "PROMETHEUS_DISABLE_CREATED_SERIES": "True",
        "VLLM_NO_USAGE_STATS": "1",
        **_preset_environ(settings, model.serving[family], family),
        **(_cpu_binding(settings, cpus) if family == "cpu" else {}),
    }
    if settings.api_key:
        engine["VLLM_API_KEY"] = settings.api_key.get_secret_value()
    return {**engine, **inherited}


def _reference_args(model: Model) -> list[str]:
    # Exactly the flags of the reference run.
    return [
        *("--host", "0.0.0.0"),  # noqa: S104 - as in the reference
        *("--port", str(SERVER_PORT)),
        *("--served-model-name", model.name),
        "--trust-remote-code",
        *("--dtype", "bfloat16"),
        *("--max-model-len", "8192"),
        *("--max-num-seqs", "32"),
    ]


def _address_args(settings: Settings, model: Model) -> list[str]:
    return [
        *("--host", settings.listen_address),
        *("--port", str(SERVER_PORT)),
        *("--served-model-name", model.name),
        *("--shutdown-timeout", str(settings.drain_seconds)),
        *("--disable-access-log-for-endpoints", _QUIET),
    ]


def _size_args(settings: Settings, model: Model, serving: Serving) -> list[str]:
    dtype = serving.dtype if settings.dtype == "auto" else settings.dtype
    return [
        *("--dtype", dtype),
        *("--max-model-len", str(settings.max_model_len or model.context)),
        *("--max-num-seqs", str(settings.max_num_seqs or serving.max_num_seqs)),
        # Lets a client see whether its prompt came from the prefix cache.
        "--enable-prompt-tokens-details",
    ]


def _memory_args(settings: Settings, family: Family) -> list[str]:
    if family == "cpu":  # bounded by VLLM_CPU_KVCACHE_SPACE instead
        return []
    return ["--gpu-memory-utilization", str(settings.memory_utilization)]


def _parallel_args(settings: Settings) -> list[str]:
    sizes = {
        "--tensor-parallel-size": settings.tensor_parallel_size,
        "--data-parallel-size": settings.data_parallel_size,
    }
    return [word for flag, n in sizes.items() if n > 1 for word in (flag, str(n))]


def _format_args(settings: Settings) -> list[str]:
    if settings.weights_format == "native":
        return []
    # The published folder has no template, and an end-of-text that chats never reach;
    # --override-generation-config does not make vLLM 0.23 stop, a directory does.
    folder = settings.models_dir / settings.model
    return [
        "--trust-remote-code",
        *("--chat-template", str(folder / "chat_template.jinja")),
        *("--generation-config", str(folder)),
    ]


def _preset_environ(
    settings: Settings, serving: Serving, family: Family
) -> dict[str, str]:
    if settings.preset == "reference" and family != "cpu":
        return {
            "ASCEND_RT_VISIBLE_DEVICES": "0",
            "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True",
        }
    if serving.kv_cache_gib and family == "cpu":
        return {"VLLM_CPU_KVCACHE_SPACE": str(serving.kv_cache_gib), **serving.env}
    return dict(serving.env)


def _cpu_binding(settings: Settings, cpus: Sequence[int]) -> dict[str, str]:
    """Give each worker its own CPUs; by itself vLLM wants a NUMA node for each."""
    workers = settings.tensor_parallel_size * settings.data_parallel_size
    if workers == 1:
        return {}
    share = len(cpus) // workers
    parts = [cpus[rank * share : (rank + 1) * share] for rank in range(workers)]
    lists = "|".join(",".join(map(str, part)) for part in parts)
    return {"VLLM_CPU_OMP_THREADS_BIND": lists if share else "nobind"}
