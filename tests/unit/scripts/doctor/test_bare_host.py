"""The doctor of a bare host: Python 3.9, and nothing installed."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
# What Python 3.10 brought to functions that 3.9 has.
NEWER = {"zip": {"strict"}, "dataclass": {"slots", "kw_only"}, "field": {"kw_only"}}
LOADED = """
import json, sys, scripts.doctor.__main__
print(json.dumps([m.__file__ for m in sys.modules.values() if getattr(m, "__file__", 0)]))
"""


def python(*words: str, by: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Run Python without site-packages and without our environment."""
    return subprocess.run(
        [by, "-S", *words],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


def sources() -> list[Path]:
    """Give our files that `--host` loads."""
    loaded = map(Path, json.loads(python("-c", LOADED).stdout))
    return sorted(path for path in loaded if ROOT in path.parents)


def python_3_9() -> str | None:
    """Find one that runs; the shims of pyenv are there also where they do not."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [*root.glob("versions/3.9.*/bin/python3.9"), shutil.which("python3.9")]
    runs = (str(path) for path in found if path)
    return next((path for path in runs if not python("-c", "", by=path).returncode), None)


def newer_calls(path: Path) -> list[str]:
    """Parse as Python 3.9 does, and give the calls that it would not take."""
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    words = [(ast.unparse(c.func), {k.arg for k in c.keywords}) for c in calls]
    return [name for name, given in words if NEWER.get(name, set()) & given]


def test_what_it_loads_is_python_3_9_and_says_so_first() -> None:
    files = sources()

    assert ROOT / "bundle/checks/ascend.py" in files
    assert {path.name: newer_calls(path) for path in files if newer_calls(path)} == {}
    for path in files:
        assert path.name == "__init__.py" or "import annotations" in path.read_text()


def test_python_3_9_runs_it(tmp_path: Path) -> None:
    if not (old := python_3_9()):
        pytest.skip("no Python 3.9 here; the test above reads the sources instead")
    done = python("-m", "scripts.doctor", "--host", "--json", by=old)

    assert done.stderr == ""
    ids = [one["id"] for one in json.loads(done.stdout)["results"]]
    assert ids[:3] == ["architecture", "python-version", "cpus"]
    assert "device-nodes" in ids

    report = tmp_path / "a.json"
    report.write_text(done.stdout.replace("3.9.", "3.8."))
    (tmp_path / "b.json").write_text(done.stdout)
    files = str(report), str(tmp_path / "b.json")
    done = python("-m", "scripts.doctor", "--compare", *files, by=old)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("python-version\n")

    (tmp_path / "log").write_text("OSError: [Errno 28] No space left on device\n")
    done = python("-m", "scripts.doctor", "--log", str(tmp_path / "log"), by=old)
    assert (done.returncode, done.stderr) == (1, "")
    assert "disk-full" in done.stdout


def test_without_packages_it_says_what_to_do() -> None:
    done = python("-m", "scripts.doctor")

    assert done.returncode == 2
    assert done.stderr.startswith("error: this Python has no ")
    assert "fix: run `make doctor`, or add --host" in done.stderr
