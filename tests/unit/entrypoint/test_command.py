"""The engine's command line, by equality, for each device family."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bundle.model import Family, load_model
from bundle.settings import Settings, load
from entrypoint.command import vllm_argv, vllm_environ

if TYPE_CHECKING:
    from collections.abc import Sequence

MODELS = Path(__file__).parents[3] / "models"
QWEN = load_model(MODELS, "qwen-1_8b-chat")
NATIVE = "/models/qwen-1_8b-chat/native/Qwen-1_8B-Chat"
ORIGINAL = "/models/qwen-1_8b-chat/original/Qwen-1_8B-Chat"


def settings(**values: str) -> Settings:
    """Give the settings with these variables set."""
    return load({f"BUNDLE_{name}": value for name, value in values.items()})


def words(family: Family, **values: str) -> str:
    """Give the command line on `family` as one string."""
    return " ".join(vllm_argv(settings(**values), QWEN, family))


START = f"python3 -m vllm.entrypoints.openai.api_server --model {NATIVE}"
ADDRESS = (
    "--host 0.0.0.0 --port 8000 --served-model-name qwen-1_8b-chat "
    "--shutdown-timeout 30 --disable-access-log-for-endpoints /health,/metrics,/ping"
)
A2_GRAPHS = (
    '--compilation-config {"cudagraph_mode":"FULL_DECODE_ONLY",'
    '"cudagraph_capture_sizes":[1,2,4,8,16,24,32,48,64]}'
)


def test_on_the_cpu() -> None:
    assert words("cpu") == (
        f"{START} {ADDRESS} --dtype bfloat16 --max-model-len 8192 --max-num-seqs 8 "
        "--enable-prompt-tokens-details"
    )


@pytest.mark.parametrize("family", ["atlas-a2", "atlas-a3", "atlas-a5"])
def test_on_the_families_with_hbm(family: Family) -> None:
    assert words(family) == (
        f"{START} {ADDRESS} --dtype bfloat16 --max-model-len 8192 --max-num-seqs 64 "
        f"--enable-prompt-tokens-details --gpu-memory-utilization 0.9 {A2_GRAPHS}"
    )


def test_on_the_310p_which_has_no_bfloat16() -> None:
    assert words("atlas-310p") == (
        f"{START} {ADDRESS} --dtype float16 --max-model-len 8192 --max-num-seqs 32 "
        "--enable-prompt-tokens-details --gpu-memory-utilization 0.9 "
        '--no-enable-prefix-caching --compilation-config {"cudagraph_mode":'
        '"FULL_DECODE_ONLY","cudagraph_capture_sizes":[1,2,4,8,16,32]}'
    )


def test_the_reference_preset_is_exactly_the_reference_run() -> None:
    assert words("atlas-a2", PRESET="reference", WEIGHTS_FORMAT="original") == (
        f"python3 -m vllm.entrypoints.openai.api_server --model {ORIGINAL} "
        "--host 0.0.0.0 --port 8000 --served-model-name qwen-1_8b-chat "
        "--trust-remote-code --dtype bfloat16 --max-model-len 8192 --max-num-seqs 32"
    )


def test_the_original_format_gets_what_it_lacks() -> None:
    line = words("cpu", WEIGHTS_FORMAT="original")

    assert line.endswith(
        "--trust-remote-code "
        f"--chat-template {MODELS}/qwen-1_8b-chat/chat_template.jinja "
        f"--generation-config {MODELS}/qwen-1_8b-chat"
    )


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("DTYPE", "float32", "--dtype float32"),
        ("MAX_MODEL_LEN", "4096", "--max-model-len 4096"),
        ("MAX_NUM_SEQS", "7", "--max-num-seqs 7"),
        ("MEMORY_UTILIZATION", "0.5", "--gpu-memory-utilization 0.5"),
        ("TENSOR_PARALLEL_SIZE", "2", "--tensor-parallel-size 2"),
        ("DATA_PARALLEL_SIZE", "8", "--data-parallel-size 8"),
        ("DRAIN_SECONDS", "5", "--shutdown-timeout 5"),
        ("LISTEN_ADDRESS", "127.0.0.1", "--host 127.0.0.1"),
        ("EXTRA_ARGS", "--seed '7 8'", "--seed 7 8"),
    ],
)
def test_each_setting_reaches_the_command_line(
    name: str, value: str, expected: str
) -> None:
    assert f" {expected} " in words("atlas-a2", **{name: value}) + " "


def test_extra_args_stay_single_words() -> None:
    argv = vllm_argv(settings(EXTRA_ARGS="""--x '{"a": 1}'"""), QWEN, "cpu")

    assert argv[-2:] == ["--x", '{"a": 1}']


def test_the_engine_sees_the_models_environment_but_not_our_settings() -> None:
    inherited = {"PATH": "/bin", "BUNDLE_MODEL": "qwen-1_8b-chat"}

    environ = vllm_environ(settings(), QWEN, "atlas-a2", inherited)

    assert environ == {
        "PATH": "/bin",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "PYTHONSAFEPATH": "1",
        "PROMETHEUS_DISABLE_CREATED_SERIES": "True",
        "VLLM_NO_USAGE_STATS": "1",
        "TASK_QUEUE_ENABLE": "1",
        "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True",
    }


def test_the_operators_environment_wins() -> None:
    environ = vllm_environ(settings(), QWEN, "cpu", {"VLLM_CPU_KVCACHE_SPACE": "9"})

    assert environ["VLLM_CPU_KVCACHE_SPACE"] == "9"


@pytest.mark.parametrize(
    ("replicas", "cpus", "expected"),
    [
        ("1", range(4), None),
        ("2", range(2), "0|1"),
        ("2", [1, 3, 4, 5, 9], "1,3|4,5"),
        ("4", range(2), "nobind"),
    ],
)
def test_replicas_on_the_cpu_have_cpus_of_their_own(
    replicas: str, cpus: Sequence[int], expected: str | None
) -> None:
    several = settings(DATA_PARALLEL_SIZE=replicas)
    on_cpu = vllm_environ(several, QWEN, "cpu", {}, cpus)

    assert on_cpu.get("VLLM_CPU_OMP_THREADS_BIND") == expected
    on_npu = vllm_environ(several, QWEN, "atlas-a2", {}, cpus)
    assert "VLLM_CPU_OMP_THREADS_BIND" not in on_npu


def test_the_key_is_in_the_environment_only(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret")
    with_key = settings(API_KEY_FILE=str(tmp_path / "key"))

    assert vllm_environ(with_key, QWEN, "cpu", {})["VLLM_API_KEY"] == "s3cret"
    assert "s3cret" not in " ".join(vllm_argv(with_key, QWEN, "cpu"))
