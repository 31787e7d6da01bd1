"""The installer: commands as data, the operator's index, clear refusals."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bundle.errors import CouldNotRun, HostNotReady, WrongUsage
from scripts import install

ROOT = Path("/r")


def test_the_tool_is_installed_by_pip_with_hashes() -> None:
    make, fill = install.commands("tool", ROOT)

    assert make == [sys.executable, "-m", "venv", "/r/.venv/tool"]
    assert fill == [
        *("/r/.venv/tool/bin/python", "-m", "pip", "install", "--quiet"),
        *("--require-hashes", "-r", "/r/requirements/tool.txt"),
    ]


def test_everything_else_is_installed_by_the_tool_with_hashes() -> None:
    make, fill = install.commands("engine-cpu", ROOT)

    assert make[-2:] == ["--without-pip", "/r/.venv/engine-cpu"]
    assert fill == [
        *("/r/.venv/tool/bin/uv", "pip", "sync", "--require-hashes"),
        *("--link-mode", "copy", "--python", "/r/.venv/engine-cpu/bin/python"),
        "/r/requirements/engine-cpu.txt",
    ]


@pytest.mark.parametrize(
    ("environ", "config", "index"),
    [
        ({}, "", None),
        ({}, "global.index-url='https://a'\n", "https://a"),
        ({"PIP_INDEX_URL": "https://b"}, "global.index-url='https://a'", "https://b"),
    ],
)
def test_uv_takes_the_index_that_pip_is_set_to(
    environ: dict[str, str], config: str, index: str | None
) -> None:
    assert install.uv_environ(environ, config).get("UV_DEFAULT_INDEX") == index


def test_what_the_operator_tells_uv_itself_wins() -> None:
    environ = {"UV_DEFAULT_INDEX": "https://c", "UV_SYSTEM_CERTS": "false"}

    assert install.uv_environ(environ, "global.index-url='https://a'") == {}


def test_an_unknown_environment_is_refused() -> None:
    with pytest.raises(WrongUsage, match="engine-gpu is no environment"):
        install.main(["engine-gpu"])


def test_too_little_disk_is_told_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/tool.txt").write_text("uv==1\n")
    huge = install.Environment("x", 10**12, 10**12)
    monkeypatch.setitem(install.ENVIRONMENTS, "tool", huge)

    with pytest.raises(HostNotReady, match="tool needs 2000000000000 MB"):
        install.install("tool", tmp_path)

    assert not (tmp_path / ".venv").exists()


def test_an_unsupported_python_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/tool.txt").write_text("uv==1\n")
    monkeypatch.setattr(install, "PYTHONS", ((2, 6), (2, 7)))

    with pytest.raises(HostNotReady, match=r"vLLM needs 3\.10, 3\.11 or 3\.12"):
        install.install("tool", tmp_path)


def test_a_failed_install_is_a_sentence_and_leaves_no_stamp(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    lock = tmp_path / "requirements/tool.txt"
    lock.write_text("no-such-package-of-ours==1 --hash=sha256:" + "0" * 64 + "\n")

    with pytest.raises(CouldNotRun, match="failed"):
        install.install("tool", tmp_path)

    assert not (tmp_path / ".venv/tool/made-from").exists()
