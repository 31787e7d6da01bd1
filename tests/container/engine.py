"""Docker for the tests: the one that runs, or one of our own; and a base to build on."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
STATE = ROOT / "var/docker"
DOCKER = "/usr/bin/docker"  # Debian's, whose BuildKit is built in
COMPOSE = str(Path(sys.executable).with_name("docker-compose"))
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
REAL_BASE = "docker.io/library/python:3.12-slim-bookworm"
STAND_IN = "bundle-test/python:3.11"
PACKAGES = "python3,python3-venv,python3-dev,ca-certificates"


def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command; give its output."""
    return subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "DOCKER_BUILDKIT": "1", **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def good(*words: str, **environ: str) -> str:
    """Run a command that must succeed; give what it printed."""
    done = run(*words, **environ)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def alone() -> Iterator[None]:
    """Keep other runs of these tests away: they take the same ports, tags and names."""
    with (Path(tempfile.gettempdir()) / "ascend-chat-bundle-test.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def daemon() -> Iterator[str]:
    """Have a Docker daemon; the value says why there is none, empty if there is.

    One that was started here is ended by its pid.
    """
    if not Path(DOCKER).exists():
        yield "Docker is not installed (Debian package docker.io)"
    elif run(DOCKER, "info").returncode == 0:
        yield ""
    elif os.geteuid() != 0 or not shutil.which("dockerd"):
        yield "no Docker daemon answers, and only root can start one"
    else:
        with _own_daemon() as why_not:
            yield why_not


@contextmanager
def _own_daemon() -> Iterator[str]:
    STATE.mkdir(parents=True, exist_ok=True)
    with (STATE / "dockerd.log").open("wb") as log:
        process = subprocess.Popen(
            ["dockerd", "--data-root", str(STATE / "data")],  # noqa: S607 - of this system
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield _why_not_up(process)
        finally:
            process.terminate()
            process.wait(timeout=60)


def _why_not_up(process: subprocess.Popen[bytes]) -> str:
    for _ in range(60):
        if run(DOCKER, "info").returncode == 0:
            return ""
        if process.poll() is not None:
            break
        time.sleep(1)
    return f"dockerd does not start here; see {STATE}/dockerd.log"


def python_base() -> str:
    """Give a base image with Python: the real one, or a stand-in from Debian packages."""
    if run(DOCKER, "image", "inspect", STAND_IN).returncode == 0:
        return STAND_IN
    if run("timeout", "60", DOCKER, "pull", REAL_BASE).returncode == 0:
        return REAL_BASE
    print(f"{REAL_BASE} cannot be pulled; making a stand-in with debootstrap")
    _make_stand_in(STATE / "base")
    return STAND_IN


def _make_stand_in(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    options = ["--variant=minbase", f"--include={PACKAGES}"]
    good("debootstrap", *options, "bookworm", str(folder), _debian_mirror())
    # Its apt asks what this machine's apt asks.
    shutil.copytree("/etc/apt", folder / "etc/apt", dirs_exist_ok=True)
    for used in (folder / "var/cache/apt/archives").glob("*.deb"):
        used.unlink()
    with subprocess.Popen(
        ["/usr/bin/tar", "-C", str(folder), "-c", "."], stdout=subprocess.PIPE
    ) as tar:
        subprocess.run([DOCKER, "import", "-", STAND_IN], stdin=tar.stdout, check=True)
    shutil.rmtree(folder)


def _debian_mirror() -> str:
    """Give the mirror that this machine's apt uses; debootstrap's own if none is seen."""
    apt = Path("/etc/apt")
    for path in (*sorted(apt.rglob("*.sources")), apt / "sources.list"):
        text = path.read_text() if path.exists() else ""
        if found := re.search(r"^(?:URIs:|deb) *(https?://\S+)", text, re.MULTILINE):
            return found[1]
    return ""


def build(
    target: str, base: str, context: Path = ROOT, tag: str = "", **more: str
) -> str:
    """Build a target of the Dockerfile on the CPU engine; give the image's name."""
    name = f"bundle-test/{tag or target}"
    secret = [f"id=ca,src={CERTIFICATES}"] if CERTIFICATES.exists() else []
    arguments = {
        "PYTHON_IMAGE": base,
        "ENGINE": "engine-cpu",
        "MODEL": "smollm2-135m-instruct",
        **more,
    }
    good(
        *(DOCKER, "build", "--network", "host", "--target", target, "--tag", name),
        *(word for value in secret for word in ("--secret", value)),
        *(w for k, v in arguments.items() for w in ("--build-arg", f"{k}={v}")),
        str(context),
    )
    return name


def build_stand_ins(base: str) -> None:
    """Build stand-ins for the images of others from Debian's packages."""
    recipe = ROOT / "tests/container/monitoring.Dockerfile"
    for target in ("prometheus", "alertmanager", "nginx"):
        good(
            *(DOCKER, "build", "--network", "host", "--build-arg", f"BASE={base}"),
            *("--target", target, "--tag", f"bundle-test/{target}"),
            *("--file", str(recipe), str(recipe.parent)),
        )


def build_cann_packages(base: str) -> str:
    """Build what of engine-cann needs no CANN; give the image's name."""
    return build("engine-cann-packages", base, CANN_IMAGE=base)
