"""One home per fact, and arrows that point one way."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from bundle import VERSION
from bundle.settings import EXPORTER_PORT, SERVER_PORT, variables

ROOT = Path(__file__).parents[1]
PACKAGES = ("bundle", "entrypoint", "monitoring", "scripts")
SOURCES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Give the top-level names that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_import_only_bundle_and_themselves(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0]

    assert imported(path) & set(PACKAGES) <= {own, "bundle"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_commands_read_the_environment(path: Path) -> None:
    tree = ast.parse(path.read_text())
    reads = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "os.environ"
    ]

    assert not reads or '__name__ == "__main__"' in path.read_text()


def installer() -> set[str]:
    """Give the files of the installer: itself and what it imports, however deep."""
    found, new = set(), {"scripts/install.py", "scripts/__init__.py"}
    while new:
        found |= new
        names = {name for file in new for name in modules(ROOT / file)}
        paths = {f"{name.replace('.', '/')}.py" for name in names}
        paths |= {f"{name.split('.')[0]}/__init__.py" for name in names}
        new = {path for path in paths if (ROOT / path).is_file()} - found
    return found


def modules(path: Path) -> set[str]:
    """Give the full names of what a file imports from."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    whole = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    froms = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module]
    parts = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
    return whole | parts | {node.module or "" for node in froms}


def test_the_installer_and_what_it_imports_need_only_the_standard_library() -> None:
    outside = {"pydantic", "yaml", "requests", "aiohttp", "supervisor", "modelscope"}

    assert "bundle/errors.py" in installer()
    for name in installer():
        assert not imported(ROOT / name) & outside, name


def test_the_images_install_with_all_that_the_installer_needs() -> None:
    stages = (ROOT / "Dockerfile").read_text().split("\nFROM ")
    installing = [stage for stage in stages if "-m scripts.install " in stage]

    assert installing
    for stage in installing:
        before = stage.split("-m scripts.install ")[0]
        assert [name for name in installer() if name not in before] == []


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("*.txt")))
def test_every_lock_has_hashes_and_names_no_index(lock: Path) -> None:
    lines = lock.read_text().splitlines()
    pinned = [line for line in lines if re.match(r"^[a-z0-9].*==", line, re.IGNORECASE)]

    assert pinned
    assert all(line.endswith("\\") for line in pinned)
    assert not [line for line in lines if "://" in line and not line.startswith(" ")]


def test_no_fixture_has_the_name_of_a_standard_module() -> None:
    """Some are run by path; Python then finds their neighbours before its own."""
    names = {path.stem for path in (ROOT / "tests/fixtures").glob("*.py")}

    assert names & sys.stdlib_module_names == set()


def test_the_newest_changelog_heading_is_the_version() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    version = re.search(r'^version = "(.+)"$', project, re.MULTILINE)
    heading = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert version
    assert heading
    assert heading[1] == version[1] == VERSION


def test_every_make_target_in_the_readme_exists() -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )
    used = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / "README.md").read_text()))

    assert used
    assert used <= targets


def test_every_exit_code_has_its_heading_in_the_runbook() -> None:
    runbook = (ROOT / "docs/runbook.md").read_text()

    for code in (0, 1, 2, 64, 69, 78):
        assert f"\n## exit {code}" in runbook


def test_every_setting_that_a_document_names_exists() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "Makefile"]:
        named = set(re.findall(r"\bBUNDLE_[A-Z_]*[A-Z]", path.read_text()))
        assert named <= set(variables()), path


def test_the_readme_tells_the_ports_of_the_code() -> None:
    readme = (ROOT / "README.md").read_text()

    assert str(SERVER_PORT) in readme
    assert str(EXPORTER_PORT) in readme


def test_both_readmes_have_the_same_commands_links_and_folders() -> None:
    def parts(name: str) -> tuple[list[str], list[str], list[str]]:
        text = (ROOT / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        commands = [re.sub(r"\s*# .*", "", block) for block in blocks]
        links = re.findall(r"\]\((docs/[^)]+)\)", text)
        return commands, links, re.findall(r"`([^`\n]+)`", text)

    english, chinese = parts("README.md"), parts("README.zh-CN.md")

    assert english[0]
    assert english[0] == chinese[0]
    assert sorted(english[1]) == sorted(chinese[1])
    assert set(english[2]) <= set(chinese[2])
