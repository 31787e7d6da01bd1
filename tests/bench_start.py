"""Time to the first token, ours beside bare vLLM: `python -m tests.bench_start`.

By turns, from one image with a filled compile cache: the compose stack's server, with
its checks and supervisord, and a container whose process is vLLM itself, with the same
flags and environment. Needs the images of `make container` and a Docker daemon.
"""

from __future__ import annotations

import shlex
import statistics
import time
from typing import TYPE_CHECKING

import requests

from tests.container.engine import DOCKER, good, run
from tests.container.names import IMAGES, MODEL, STACK, URL

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 4
BARE = "bundle-test-bare"
SERVER = (*STACK, "up", "--detach", "--no-deps", "server")
HARDENED = ("--init", "--read-only", "--cap-drop=ALL", "--shm-size=1g")
MOUNTS = ("--tmpfs=/run/bundle:uid=1000", "--tmpfs=/tmp:exec", "--tmpfs=/home/HwHiAiUser")
CACHE = "--volume=bundle-test_cache:/var/cache/bundle"


def main() -> None:
    """Print each round's times, the medians and their ratio."""
    bare = _bare_command()
    rounds = []
    for number in range(ROUNDS + 1):
        ours = _timed(SERVER)
        good(*STACK, "down", **IMAGES)
        alone = _timed(bare)
        good(DOCKER, "rm", "--force", BARE)
        if number:  # the first fills the volume and the page cache
            rounds.append((ours, alone))
            print(f"round {number}: ours {ours:.1f} s, bare {alone:.1f} s", flush=True)
    ours, alone = (statistics.median(times) for times in zip(*rounds, strict=True))
    print(f"median: ours {ours:.1f} s, bare {alone:.1f} s, ratio {ours / alone:.3f}")


def _bare_command() -> list[str]:
    """Give vLLM as the container's own process, with what our entrypoint gives it."""
    options = ("--env=BUNDLE_DEVICE=cpu", CACHE, *HARDENED, *MOUNTS)
    words = (DOCKER, "run", "--rm", *options, IMAGES["SERVER_IMAGE"], "--check")
    engine = shlex.split(good(*words).splitlines()[-1])
    environ = ["VLLM_CPU_KVCACHE_SPACE=1", "HF_HUB_OFFLINE=1", "PYTHONSAFEPATH=1"]
    return [
        *(DOCKER, "run", "--detach", "--name", BARE, "--publish=127.0.0.1:8000:8000"),
        *(f"--env={name}" for name in environ),
        *(CACHE, *HARDENED, *MOUNTS),
        *("--entrypoint", engine[0], IMAGES["SERVER_IMAGE"], *engine[1:]),
    ]


def _timed(command: Sequence[str]) -> float:
    started = time.monotonic()
    good(*command, **IMAGES)
    while not _first_token():
        time.sleep(0.2)
    return time.monotonic() - started


def _first_token() -> bool:
    body = {"model": MODEL, "prompt": "Once", "max_tokens": 1}
    try:
        answer = requests.post(f"{URL}/v1/completions", json=body, timeout=60)
    except requests.RequestException:
        assert run(DOCKER, "ps", "--quiet").stdout, "the server has died"
        return False
    return answer.ok


if __name__ == "__main__":
    main()
