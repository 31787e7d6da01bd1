"""Variables of a start: what the runtimes do not take, and paths in all their forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundle.checks.finding import FAILURE, OK, UNKNOWN, WARNING
from bundle.checks.variables import CHECKS
from tests.fixtures.hosts import Host, healthy

MOUNTS = r"""a / overlay rw 0 0
tmpfs /tmp tmpfs rw 0 0
h:/x /mnt/my\040disk nfs4 rw 0 0
h:/y /data nfs rw 0 0
tmpfs /data/fast tmpfs rw 0 0
b /lustre lustre rw 0 0
g /gluster fuse.glusterfs rw 0 0
tmpfs /over tmpfs rw 0 0
h:/z /over nfs rw 0 0
"""


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """Give a container of cards 0 and 1, as the host numbers them 2 and 5."""
    host = healthy(tmp_path, "atlas-a2")
    (host.root / "dev/davinci0").unlink()
    host.write("dev/davinci2")
    host.write("dev/davinci5")
    host.write("proc/mounts", MOUNTS)
    return host


def level(host: Host, check: str) -> str | None:
    """Give what that check says; None where it says nothing."""
    (run,) = (one.run for one in CHECKS if one.id == check)
    findings = list(run(host.start))
    assert all(one.remedy or one.level == OK for one in findings)
    return findings[0].level if findings else None


@pytest.mark.parametrize("value", ["0", "1", "0,1", "1,0"])
def test_numbers_of_cards_are_good(host: Host, value: str) -> None:
    host.environ["ASCEND_RT_VISIBLE_DEVICES"] = value

    assert level(host, "visible-devices") == OK


@pytest.mark.parametrize("name", ["ASCEND_RT_VISIBLE_DEVICES", "NPU_VISIBLE_DEVICES"])
@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "-1", "0,-1", "none", "all", "void", "a", "0;1", "0, 1", "0,,1", ",0"),
        *("0,", "0,0", "2", "0-1", "0.5", "0x1", "\u0660", "\u00b2", "9" * 400, "0\n"),
    ],
)
def test_what_the_runtime_does_not_take_is_a_failure(
    host: Host, name: str, value: str
) -> None:
    host.environ[name] = value

    assert level(host, "visible-devices") == FAILURE


def test_a_bare_host_may_use_its_own_numbers(host: Host) -> None:
    (host.root / ".dockerenv").unlink()
    host.environ["ASCEND_RT_VISIBLE_DEVICES"] = "5"

    assert level(host, "visible-devices") == OK


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((good, None) for good in ("0", "5,7", "0-3", "0-3,5", "Ascend910-0", "void")),
        *(
            (bad, WARNING)
            for bad in ("", " ", "-1", "a", "0;1", "none", "0-", "0,,1", "0,0")
        ),
    ],
)
def test_cards_for_the_docker_runtime_are_of_its_form(
    host: Host, value: str, expected: str | None
) -> None:
    host.environ["ASCEND_VISIBLE_DEVICES"] = value

    assert level(host, "visible-devices") == expected


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/data/x", FAILURE),
        ("//data/x", FAILURE),
        ("/fast/../data/x", FAILURE),
        ("data/x", FAILURE),
        ("/link", FAILURE),
        ("/mnt/my disk/x", FAILURE),
        ("/lustre/x", FAILURE),
        ("/gluster/x", FAILURE),
        ("/over/x", FAILURE),
        ("/data/fast/x", OK),
        ("/data/x/../fast/x", OK),
        ("/database/x", OK),
        ("/data/none", FAILURE),
        ("", None),
    ],
)
def test_the_folder_of_metrics_is_found_on_its_disk(
    host: Host, folder: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("data", "data/fast", "mnt/my disk", "lustre", "gluster", "over"):
        (host.root / name / "x").mkdir(parents=True)
    (host.root / "database/x").mkdir(parents=True)
    (host.root / "fast").mkdir()
    (host.root / "link").symlink_to("data/x")
    monkeypatch.setattr("bundle.checks.world.Path.cwd", lambda: Path("/"))
    host.environ["PROMETHEUS_MULTIPROC_DIR"] = folder

    assert level(host, "metrics-folder") == expected


def test_without_mounts_the_disk_cannot_be_told(host: Host) -> None:
    (host.root / "proc/mounts").unlink()
    host.environ["PROMETHEUS_MULTIPROC_DIR"] = "/"

    assert level(host, "metrics-folder") == UNKNOWN


@pytest.mark.parametrize(
    ("value", "expected"),
    [("True", WARNING), ("1", WARNING), ("False", None), ("0", None), ("", None)],
)
def test_a_hub_that_is_switched_off_is_off(
    host: Host, value: str, expected: str | None
) -> None:
    host.environ["VLLM_USE_MODELSCOPE"] = value

    assert level(host, "modelscope") == expected


def test_a_library_beside_us_is_found(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.write("here/x.so")
    monkeypatch.setattr("bundle.checks.world.Path.cwd", lambda: Path("/here"))
    host.environ["LD_PRELOAD"] = "./x.so"

    assert level(host, "preload") is None
