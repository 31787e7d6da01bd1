"""Prometheus of `make up`: what it reads, and when it is not started."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

from bundle.settings import PROMETHEUS_DIR
from scripts.up.prometheus import SOURCE, configuration, is_up, prepare
from tests.fixtures.exporter import free_port

MODEL = "smollm2-135m-instruct"


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Give a PATH that has a `prometheus`."""
    command = tmp_path / "bin/prometheus"
    command.parent.mkdir()
    command.touch(mode=0o755)
    return str(command.parent)


def test_targets_and_rules_are_those_of_this_host_and_all_else_is_composes() -> None:
    compose = (SOURCE / "prometheus.yml").read_text()
    rules = SOURCE / f"rules/{MODEL}.yml"

    found = yaml.safe_load(configuration(compose, rules))

    assert {
        job["job_name"]: job["static_configs"] for job in found["scrape_configs"]
    } == {
        "engine": [{"targets": ["127.0.0.1:8000"]}],
        "exporter": [{"targets": ["127.0.0.1:9810"]}],
        "prometheus": [{"targets": ["127.0.0.1:9090"]}],
    }
    assert found["rule_files"] == [str(rules)]
    assert found["global"] == yaml.safe_load(compose)["global"]
    assert "_created" in str(found["scrape_configs"])  # still dropped
    assert "alertmanager" not in str(found)


def test_promtool_takes_what_is_written(tmp_path: Path, path: str) -> None:
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (Debian package prometheus)")
    folder = tmp_path / "prometheus"

    assert prepare(MODEL, folder, path, free_port()) == {PROMETHEUS_DIR: str(folder)}

    command = ["promtool", "check", "config", str(folder / "prometheus.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "rules found" in done.stdout


@pytest.mark.parametrize(("model", "without"), [(MODEL, 0), ("of-another-folder", 1)])
def test_a_model_without_rules_is_served_without_alerts_and_that_is_told(
    tmp_path: Path,
    path: str,
    model: str,
    without: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "prometheus"

    assert prepare(model, folder, path, free_port()) == {PROMETHEUS_DIR: str(folder)}

    assert capsys.readouterr().out.count("Prometheus runs without alerts") == without


def test_where_it_is_not_installed_one_line_says_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(MODEL, tmp_path / "out", str(tmp_path)) == {}

    said = capsys.readouterr().out
    assert "not installed (apt-get install prometheus)" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_taken_port_is_told_in_one_line(
    tmp_path: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        assert prepare(MODEL, tmp_path / "out", path, port) == {}

    said = capsys.readouterr().out
    assert f"port {port}: another process listens there" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("answer", "ours"),
    [
        ('{"data": {"config.file": "/here/prometheus.yml"}}', True),
        ('{"data": {"config.file": "/etc/prometheus/prometheus.yml"}}', False),
        ('{"data": null}', False),
        ("<html>", False),
    ],
)
def test_only_a_prometheus_that_reads_our_file_is_ours(
    tmp_path: Path, answer: str, *, ours: bool
) -> None:
    flags = tmp_path / "api/v1/status/flags"
    flags.parent.mkdir(parents=True)
    flags.write_text(answer)
    handler = partial(Quiet, directory=os.fspath(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            found = is_up(Path("/here"), f"http://127.0.0.1:{server.server_port}/")
        finally:
            server.shutdown()

    assert found is ours


def test_where_nobody_listens_none_is_up(tmp_path: Path) -> None:
    assert not is_up(tmp_path, f"http://127.0.0.1:{free_port()}/")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and prints no line for each."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""
