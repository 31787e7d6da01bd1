"""The door for others: who has the key gets the API, and nothing else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import requests

from tests.container.engine import DOCKER, ROOT, good, run
from tests.container.names import GATEWAY, IMAGES, KEY, MODEL, SERVICES, STACK

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(2400)


def ask_gateway(key: str, *, stream: bool = False) -> requests.Response:
    """Ask for 32 tokens through the gateway."""
    body = {"model": MODEL, "prompt": "Once", "max_tokens": 32, "ignore_eos": True}
    header = {"Authorization": f"Bearer {key}"} if key else {}
    url = f"{GATEWAY}/v1/completions"
    return requests.post(
        url, json={**body, "stream": stream}, headers=header, timeout=60, stream=stream
    )


def test_the_gateway_streams_to_who_has_the_key(stack: dict[str, str]) -> None:
    assert stack
    lines = ask_gateway(KEY, stream=True).iter_lines(chunk_size=1)
    arrivals = [time.monotonic() for line in lines if line.startswith(b"data: ")]

    assert len(arrivals) > 8  # a busy engine sends several tokens at once
    # Unbuffered: the first token is here long before the last one is made.
    assert arrivals[-1] - arrivals[0] > 0.1


@pytest.mark.parametrize(
    "key", ["", "sk-wrong-0123456789", KEY.lower(), KEY.replace(".", "x"), f"{KEY}x"]
)
def test_the_gateway_refuses_any_other_key(stack: dict[str, str], key: str) -> None:
    assert stack
    answer = ask_gateway(key)

    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "authentication_error"


@pytest.mark.parametrize("path", ["/metrics", "/health", "/docs", "/v1/../metrics"])
def test_the_gateway_shows_nothing_but_the_api(stack: dict[str, str], path: str) -> None:
    assert stack
    header = {"Authorization": f"Bearer {KEY}"}
    request = requests.Request("GET", GATEWAY, headers=header).prepare()
    request.url = GATEWAY + path  # as it stands, with its dots

    with requests.Session() as session:
        assert session.send(request, timeout=10).status_code == 404


def test_the_gateway_slows_down_a_flood(stack: dict[str, str]) -> None:
    assert stack
    header = {"Authorization": f"Bearer {KEY}"}
    codes = [
        requests.get(f"{GATEWAY}/v1/models", headers=header, timeout=10).status_code
        for _ in range(150)
    ]

    assert set(codes) == {200, 429}


def test_the_key_is_in_no_log(stack: dict[str, str]) -> None:
    assert stack
    log = good(*STACK, "logs", *SERVICES, **IMAGES)

    assert KEY not in log


@pytest.mark.parametrize("key", ["", "short", 'with"quote-0123456789', "x" * 201])
def test_the_gateway_does_not_start_with_a_bad_key(
    images: dict[str, str], tmp_path: Path, key: str
) -> None:
    assert images
    file = tmp_path / "key"
    file.write_text(key)
    mounts = (f"{ROOT}/gateway/start.sh:/start.sh:ro", f"{file}:/run/secrets/api_key:ro")
    done = run(
        *(DOCKER, "run", "--rm", "--network", "none", "--entrypoint", "sh"),
        *(word for mount in mounts for word in ("--volume", mount)),
        *(IMAGES["GATEWAY_IMAGE"], "/start.sh"),
    )

    assert done.returncode == 78
    assert "remedy: " in done.stderr


def test_the_gateway_does_not_start_with_a_key_that_it_may_not_read(
    images: dict[str, str], tmp_path: Path
) -> None:
    assert images
    file = tmp_path / "key"
    file.write_text(KEY)
    file.chmod(0o400)  # of root, or whoever runs the tests
    mounts = (f"{ROOT}/gateway/start.sh:/start.sh:ro", f"{file}:/run/secrets/api_key:ro")
    done = run(
        *(DOCKER, "run", "--rm", "--network", "none", "--entrypoint", "sh"),
        *("--user", "4711"),
        *(word for mount in mounts for word in ("--volume", mount)),
        *(IMAGES["GATEWAY_IMAGE"], "/start.sh"),
    )

    assert done.returncode == 78
    assert "the key file is not readable by uid 4711" in done.stderr
