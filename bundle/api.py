"""Client of an OpenAI-compatible server: what probes and checks ask of it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import requests

from bundle.errors import CouldNotRun, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import SecretStr

    from bundle.settings import Settings

Message = dict[str, str]


class ServerError(CouldNotRun):
    """The server did not answer, or answered with an error."""


@dataclass(frozen=True)
class Reply:
    """One answer; token counts are the server's own."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class Server:
    """A server at `url`; `timeout` is in seconds and holds for each read."""

    url: str
    key: SecretStr | None = None
    timeout: float = 60.0

    @property
    def headers(self) -> dict[str, str]:
        """Request headers; the key goes nowhere else."""
        if self.key is None:
            return {}
        return {"Authorization": f"Bearer {self.key.get_secret_value()}"}

    def healthy(self) -> bool:
        """Whether `GET /health` says 200; a hung engine says so too (vLLM 0.23)."""
        try:
            return self._get("/health").ok
        except ServerError:
            return False

    def served_models(self) -> list[str]:
        """Names under which the server offers models."""
        answer = self._get("/v1/models")
        with _understanding(answer):
            return [entry["id"] for entry in answer.json()["data"]]

    def version(self) -> str | None:
        """Version of the engine; `None` if the server does not tell."""
        try:
            told = self._get("/version").json()["version"]
        except (ServerError, ValueError, KeyError, TypeError):
            return None
        return str(told)

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
                choice["message"]["content"] or "",
                choice["finish_reason"],
                usage["prompt_tokens"],
                usage["completion_tokens"],
            )

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
            found: list[dict[str, dict[str, float]]]
            found = answer.json()["choices"][0]["prompt_logprobs"][1:]
            return found

    def _get(self, path: str) -> requests.Response:
        return self._send("GET", path)

    def _send(
        self, method: str, path: str, body: dict[str, object] | None = None
    ) -> requests.Response:
        url = self.url + path
        try:
            answer = requests.request(
                method, url, json=body, headers=self.headers, timeout=self.timeout
            )
        except requests.RequestException as error:
            raise ServerError(
                Problem(
                    f"{url} does not answer: {_reason(error)}",
                    "start the server with `make up`, or set BUNDLE_SERVER_URL",
                )
            ) from error
        if not answer.ok:
            found = f"{url} answered {answer.status_code}: {answer.text[:300]}"
            raise ServerError(Problem(found, "read the server's log"))
        return answer


def server(settings: Settings, timeout: float = 60.0) -> Server:
    """Give the server that `settings` names."""
    return Server(settings.server_url, settings.api_key, timeout)


@contextlib.contextmanager
def _understanding(answer: requests.Response) -> Iterator[None]:
    """Turn an answer of another form than OpenAI's into a `ServerError`."""
    try:
        yield
    except (ValueError, LookupError, TypeError) as error:
        found = f"{answer.url} gives no OpenAI answer: {answer.text[:100]!r}"
        remedy = "set BUNDLE_SERVER_URL to an OpenAI-compatible server"
        raise ServerError(Problem(found, remedy)) from error


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return "timed out"
    if isinstance(error, requests.ConnectionError):
        return "connection refused or broken"
    return type(error).__name__
