"""Preflight: each bad start gives one sentence, a good one none, all at once."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest

from bundle import manifest
from bundle.checks import place
from bundle.checks.finding import FAILURE
from bundle.checks.start import Start
from bundle.errors import HostNotReady
from bundle.model import Family, load_model
from bundle.settings import load
from entrypoint.preflight import CHECKS, preflight

HERE = Path("/")
CONFIG = {
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Give settings of a start with small weights that are complete."""
    weights = tmp_path / "models/qwen-1_8b-chat/native/Qwen-1_8B-Chat"
    weights.mkdir(parents=True)
    (weights / "config.json").write_text(json.dumps(CONFIG))
    (weights / "model.safetensors").write_bytes(bytes(1000))
    manifest.write(weights, {"id": "made"})
    return {
        "BUNDLE_WEIGHTS_DIR": str(tmp_path / "models"),
        "BUNDLE_RUN_DIR": str(tmp_path / "run"),
        "BUNDLE_ENGINE_PYTHON": sys.executable,
        "BUNDLE_LISTEN_ADDRESS": "127.0.0.1",
    }


def start(environ: dict[str, str], family: Family = "cpu", root: Path = HERE) -> Start:
    """Give the start that these variables ask for."""
    settings = load(environ)
    model = load_model(settings.models_dir, settings.model)
    return Start({}, root, settings=settings, model=model, family=family)


def found(
    environ: dict[str, str], check: str, family: Family = "cpu", root: Path = HERE
) -> list[str]:
    """Give what is wrong by one check."""
    (chosen,) = [c for c in CHECKS if c.id == check]
    findings = chosen.run(start(environ, family, root))
    return [finding.found for finding in findings if finding.level == FAILURE]


def test_complete_weights_are_no_problem(environ: dict[str, str]) -> None:
    assert found(environ, "weights") == []


def test_one_changed_byte_is_a_problem(environ: dict[str, str], tmp_path: Path) -> None:
    (weights,) = tmp_path.rglob("model.safetensors")
    weights.write_bytes(bytes(999) + b"\x01")

    (what,) = found(environ, "weights")
    assert "model.safetensors" in what


def test_a_truncated_file_is_a_problem(environ: dict[str, str], tmp_path: Path) -> None:
    (weights,) = tmp_path.rglob("model.safetensors")
    weights.write_bytes(bytes(500))

    (what,) = found(environ, "weights")
    assert "500" in what


def test_missing_weights_are_one_problem(environ: dict[str, str]) -> None:
    environ["BUNDLE_WEIGHTS_DIR"] = "/nonexistent"

    assert len(found(environ, "weights")) == 1
    assert found(environ, "memory") == []


def test_a_family_without_serving_section_is_a_problem(environ: dict[str, str]) -> None:
    environ["BUNDLE_MODEL"] = "smollm2-135m-instruct"

    assert "atlas-a2" in found(environ, "served-on", "atlas-a2")[0]
    assert found(environ, "served-on", "cpu") == []


def test_gguf_has_no_original_format(environ: dict[str, str]) -> None:
    environ |= {
        "BUNDLE_MODEL": "smollm2-135m-instruct",
        "BUNDLE_WEIGHTS_FORMAT": "original",
    }

    assert len(found(environ, "weights-format")) == 1


def test_bfloat16_on_the_310p_is_a_problem(environ: dict[str, str]) -> None:
    environ["BUNDLE_DTYPE"] = "bfloat16"

    assert len(found(environ, "dtype", "atlas-310p")) == 1
    assert found(environ, "dtype", "atlas-a2") == []


@pytest.mark.parametrize("args", ["--api-key k", "--seed 1 --api-key=k"])
def test_a_key_on_the_command_line_is_a_problem(
    environ: dict[str, str], args: str
) -> None:
    environ["BUNDLE_EXTRA_ARGS"] = args

    assert len(found(environ, "extra-args")) == 1


def test_a_taken_port_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(place, "SERVER_PORT", port)

        (what,) = found({"BUNDLE_LISTEN_ADDRESS": "127.0.0.1"}, "ports")

    assert what == f"port {port} on 127.0.0.1: another process listens there"


def test_no_shm_is_a_problem(environ: dict[str, str], tmp_path: Path) -> None:
    assert "/dev/shm has 0.0 GiB" in found(environ, "shm", "atlas-a2", tmp_path)[0]  # noqa: S108


def test_too_little_memory_says_what_is_needed_for_what(
    environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemAvailable: 1048576 kB\n")

    (what,) = found(environ, "memory", root=tmp_path)

    assert what == (
        "1.0 GiB of memory are free; qwen-1_8b-chat needs 6.5 GiB: "
        "weights 0.0 GiB, KV cache 4.0 GiB, engine 2.5 GiB"
    )
    environ["BUNDLE_DATA_PARALLEL_SIZE"] = "2"
    (what,) = found(environ, "memory", root=tmp_path)
    assert "needs 13.0 GiB" in what
    assert what.endswith("for each of 2 replicas")


def test_a_context_larger_than_the_kv_cache_is_a_problem(
    environ: dict[str, str],
) -> None:
    # 2 x 24 layers x 2048 x 2 bytes = 192 KiB a token: 4 GiB hold 21,845 of them
    environ["BUNDLE_MAX_MODEL_LEN"] = "21846"

    assert "196608 bytes a token" in found(environ, "kv-cache")[0]


def test_a_python_without_vllm_is_a_problem(environ: dict[str, str]) -> None:
    (what,) = found(environ, "engine")

    assert what.endswith("has vLLM (none), this bundle is made for 0.23.0")


def test_a_python_that_is_not_there_is_a_problem(environ: dict[str, str]) -> None:
    environ["BUNDLE_ENGINE_PYTHON"] = "/nonexistent/python"

    assert "/nonexistent/python" in found(environ, "engine")[0]


def test_a_run_folder_that_cannot_be_made_is_a_problem(
    environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    environ["BUNDLE_RUN_DIR"] = str(tmp_path / "file/run")

    assert len(found(environ, "folders")) == 1


def test_all_checks_run_and_all_problems_are_raised(environ: dict[str, str]) -> None:
    environ |= {"BUNDLE_WEIGHTS_DIR": "/nonexistent", "BUNDLE_EXTRA_ARGS": "--api-key k"}
    with pytest.raises(HostNotReady) as caught:
        preflight(start(environ))

    assert len(caught.value.problems) >= 3  # weights, key, engine
