"""Client of an OpenAI-compatible server: what probes and checks ask of it."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import requests
import urllib3

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import SecretStr

    from bundle.settings import Settings

Message = dict[str, str]
MOST_BYTES = 64 << 20  # of an answer; the engine's metrics are far below one MiB


class ServerError(CouldNotRun):
    """The server did not answer, or answered with an error."""


class _TooLarge(requests.RequestException):
    """The answer has no end."""


@dataclass(frozen=True)
class Reply:
    """One answer; token counts are the server's own."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class _Answer:
    """What came back, whole."""

    url: str
    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def json(self) -> Any:  # noqa: ANN401 - whatever the server sent
        return json.loads(self.body)


@dataclass(frozen=True)
class Server:
    """A server at `url`; `timeout` in seconds holds for the wait, and for the body."""

    url: str
    key: SecretStr | None = None
    timeout: float = 60.0

    @property
    def headers(self) -> dict[str, str]:
        """Request headers; the key goes nowhere else."""
        if self.key is None:
            return {}
        return {"Authorization": f"Bearer {self.key.get_secret_value()}"}

    def at(self, url: str) -> Server:
        """Give the client of another server; it is sent the same key."""
        return replace(self, url=url.rstrip("/"))

    def healthy(self) -> bool:
        """Whether `GET /health` says 200; a hung engine says so too (vLLM 0.23)."""
        try:
            self._get("/health")
        except ServerError:
            return False
        return True

    def served_models(self) -> list[str]:
        """Names under which the server offers models."""
        answer = self._get("/v1/models")
        with _understanding(answer):
            return [_str(entry["id"]) for entry in answer.json()["data"]]

    def version(self) -> str | None:
        """Version of the engine; `None` if the server does not tell."""
        try:
            answer = self._get("/version")
            with _understanding(answer):
                return _str(answer.json()["version"])
        except ServerError:
            return None

    def metrics(self) -> str:
        """Prometheus text of the engine."""
        return self._get("/metrics").text

    def chat(self, model: str, messages: Sequence[Message], **options: object) -> Reply:
        """Send `messages`; `options` are fields of the chat completion request."""
        body = {"model": model, "messages": list(messages), **options}
        answer = self._send("POST", "/v1/chat/completions", body)
        with _understanding(answer):
            told = answer.json()
            choice, usage = told["choices"][0], told["usage"]
            return Reply(
                _str(choice["message"]["content"] or ""),
                _str(choice["finish_reason"]),
                _int(usage["prompt_tokens"]),
                _int(usage["completion_tokens"]),
            )

    def post(self, path: str, body: dict[str, object]) -> dict[str, Any]:
        """Send `body` as JSON; give the answer's JSON object."""
        answer = self._send("POST", path, body)
        with _understanding(answer):
            return dict(answer.json())

    def prompt_logprobs(
        self, model: str, ids: Sequence[int], count: int
    ) -> list[dict[str, dict[str, float]]]:
        """Give, by token id, `logprob` and `rank` of the likeliest after each of `ids`.

        The last has none. The token that came is always among them (vLLM 0.23).
        """
        body: dict[str, object] = {
            "model": model,
            "prompt": list(ids),
            "max_tokens": 1,
            "temperature": 0,
            "prompt_logprobs": count,
        }
        answer = self._send("POST", "/v1/completions", body)
        with _understanding(answer):
            found = answer.json()["choices"][0]["prompt_logprobs"][1:]
            return [
                _likeliest(place, came)
                for place, came in zip(found, ids[1:], strict=True)
            ]

    def _get(self, path: str) -> _Answer:
        return self._send("GET", path)

    def _send(
        self, method: str, path: str, body: dict[str, object] | None = None
    ) -> _Answer:
        url = self.url + path
        try:
            with requests.request(
                method,
                url,
                json=body,
                headers=self.headers,
                timeout=self.timeout,
                stream=True,
            ) as response:
                answer = _Answer(url, response.status_code, _body(response, self.timeout))
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise _no_answer(url, _reason(error)) from error
        except (OSError, ValueError) as error:  # of the socket; of the address or the key
            raise _no_answer(url, type(error).__name__) from error
        if answer.status >= HTTPStatus.BAD_REQUEST:
            found = f"{url} answered {answer.status}: {answer.text[:300]}"
            raise ServerError(Problem(found, "read the server's log"))
        return answer


def server(settings: Settings, timeout: float = 60.0) -> Server:
    """Give the server that `settings` names."""
    return Server(settings.server_url, settings.api_key, timeout)


def _body(response: requests.Response, seconds: float) -> bytes:
    """Read all of it; raises `requests.Timeout` where it takes longer than `seconds`.

    requests bounds each read only, so a byte a minute would be read for ever.
    """
    pieces, size, begun = [], 0, time.monotonic()
    while piece := response.raw.read1(1 << 16, decode_content=True):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise _TooLarge
        if time.monotonic() - begun > seconds:
            raise requests.Timeout
    return b"".join(pieces)


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


def _likeliest(place: Any, came: int) -> dict[str, dict[str, float]]:  # noqa: ANN401 - whatever the server sent
    """Check one place: a first rank, and the token that came."""
    found = {
        str(int(number)): {"logprob": float(one["logprob"]), "rank": int(one["rank"])}
        for number, one in dict(place).items()
    }
    if str(came) not in found or all(one["rank"] != 1 for one in found.values()):
        raise LookupError
    return found


@contextlib.contextmanager
def _understanding(answer: _Answer) -> Iterator[None]:
    """Turn an answer of another form than OpenAI's into a `ServerError`."""
    try:
        yield
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        found = f"{answer.url} gives no OpenAI answer: {answer.text[:100]!r}"
        remedy = "set BUNDLE_SERVER_URL to an OpenAI-compatible server"
        raise ServerError(Problem(found, remedy)) from error


def _no_answer(url: str, reason: str) -> ServerError:
    remedy = "start the server with `make up`, or set BUNDLE_SERVER_URL"
    return ServerError(Problem(f"{url} does not answer: {reason}", remedy))


def _reason(error: Exception) -> str:
    if isinstance(error, _TooLarge):
        return f"it sends more than {MOST_BYTES >> 20} MiB"
    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
        return "timed out"
    if isinstance(error, (requests.ConnectionError, urllib3.exceptions.ProtocolError)):
        return "connection refused or broken"
    return type(error).__name__
