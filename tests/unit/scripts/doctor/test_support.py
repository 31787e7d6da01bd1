"""The support bundle has what helps, and none of the planted secrets."""

from __future__ import annotations

import errno
import json
import tarfile
from typing import TYPE_CHECKING

import pytest

from bundle.checks.world import World
from bundle.errors import CouldNotRun
from scripts.doctor import support
from scripts.doctor.redact import HIDDEN
from tests.fixtures.hosts import healthy

if TYPE_CHECKING:
    from pathlib import Path

# The word in the middle is what the archive is searched for.
PLANTED = "PLANTEDsecret"
SECRETS = {
    "api key file": f"sk-{PLANTED}01",
    "variable": f"{PLANTED}02",
    "proxy": f"http://user:{PLANTED}03@proxy.example:3128",
    "log bearer": f"Authorization: Bearer {PLANTED}04",
    "log flag": f"--api-key {PLANTED}05 --port 8000",
    "log json": f'{{"api_key": "{PLANTED}06"}}',
    "log token": f"HF_TOKEN=hf_{PLANTED}07",
    "log key": f"-----BEGIN RSA PRIVATE KEY-----\n{PLANTED}08\n-----END RSA PRIVATE KEY",
    "extra args": f"--api-key={PLANTED}09",
}


def unpack(path: Path) -> dict[str, str]:
    """Give the text of every file in the archive."""
    with tarfile.open(path) as tar:
        opened = {member.name: tar.extractfile(member) for member in tar}
        return {name: file.read().decode() for name, file in opened.items() if file}


def test_no_planted_secret_is_in_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = healthy(tmp_path / "host", "atlas-a2")
    log = tmp_path / "server.log"
    log.write_text("before\n" + "\n".join(SECRETS.values()) + "\nafter\n")
    monkeypatch.setattr(support, "LOGS", (log,))
    (tmp_path / "key").write_text(SECRETS["api key file"])
    host.settings["API_KEY_FILE"] = str(tmp_path / "key")
    host.settings["SERVER_URL"] = "http://127.0.0.1:9"
    host.settings["RUN_DIR"] = str(tmp_path / "run")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/started.json").write_text(f'{{"said": "{SECRETS["variable"]}"}}')
    host.environ |= {
        "VLLM_API_KEY": SECRETS["api key file"],
        "MY_TOKEN": SECRETS["variable"],
        "VLLM_PROXY": SECRETS["proxy"],
        "BUNDLE_EXTRA_ARGS": SECRETS["extra args"],
        "NOBODYS_BUSINESS": "private matter",
        "ASCEND_HOME_PATH": "/usr/local/Ascend",
    }
    report = f'{{"found": "BUNDLE_EXTRA_ARGS={SECRETS["extra args"]}"}}'

    with support.created(tmp_path / "s.tar.gz") as file:
        support.write(file, host.start, report)

    files = unpack(tmp_path / "s.tar.gz")
    assert [name for name, text in files.items() if PLANTED in text] == []
    assert "private matter" not in "".join(files.values())
    assert files["support/server.log"].startswith("before\n")
    assert files["support/server.log"].endswith("after\n")
    assert "--port 8000" in files["support/server.log"]
    assert '"ASCEND_HOME_PATH": "/usr/local/Ascend"' in files["support/environment.json"]
    assert "910B3" in files["support/npu-smi.txt"]
    assert '"vllm-ascend": "0.23.0.post1"' in files["support/packages.json"]
    assert "did not answer" in files["support/server-metrics.txt"]
    assert {name.rpartition("/")[2] for name in files} >= {"doctor.json", "started.json"}


def test_without_good_settings_there_is_an_archive_too(tmp_path: Path) -> None:
    host = healthy(tmp_path / "host", "atlas-a2")
    (host.root / "key").write_text(f"{PLANTED}\n")
    world = World(
        {"BUNDLE_API_KEY_FILE": "/key", "BUNDLE_DEVICE": "gpu", "VLLM_AUTH": "short"},
        host.root,
        lambda _: f"npu-smi says {PLANTED}",
    )

    with support.created(tmp_path / "s.tar.gz") as file:
        support.write(file, world, "{}")

    files = unpack(tmp_path / "s.tar.gz")
    assert json.loads(files["support/environment.json"]) == {
        "BUNDLE_API_KEY_FILE": HIDDEN,
        "BUNDLE_DEVICE": "gpu",
        "VLLM_AUTH": HIDDEN,
    }
    assert files["support/npu-smi.txt"] == f"npu-smi says {HIDDEN}"


@pytest.mark.parametrize("name", ["no/s.tar.gz", ".", "a\0b", "file", "link", "dangling"])
def test_a_place_that_takes_nothing_is_told_and_left_alone(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("a log")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere")
    before = sorted(tmp_path.iterdir())

    with (
        pytest.raises(CouldNotRun, match=r"cannot be written|is there already"),
        support.created(tmp_path / name),
    ):
        pass

    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "file").read_text() == "a log"


def test_nobody_else_may_read_it_and_half_of_it_is_none(tmp_path: Path) -> None:
    path = tmp_path / "s.tar.gz"
    with support.created(path):
        assert path.stat().st_mode & 0o777 == 0o600
    path.unlink()

    with pytest.raises(KeyboardInterrupt), support.created(path):
        raise KeyboardInterrupt

    assert not path.exists()


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    with (
        pytest.raises(CouldNotRun, match="s cannot be written: No space"),
        support.created(tmp_path / "s"),
    ):
        raise full

    assert list(tmp_path.iterdir()) == []
