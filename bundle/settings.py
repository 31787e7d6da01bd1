"""Every setting of the bundle: name, type, limits, default and help, declared once.

`.env.example` and `docs/configuration.md` are generated from this file.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from bundle.errors import BadSettings, Problem, raise_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

PREFIX = "BUNDLE_"
_ALIKE = 0.8  # two letters that have changed places in a word of five

# Ports inside the bundle are constants; what a host publishes is compose's own fact.
SERVER_PORT = 8000
EXPORTER_PORT = 9810
PROMETHEUS_PORT = 9090
ALERTMANAGER_PORT = 9093
GRAFANA_PORT = 3000
GATEWAY_PORT = 8443

# In RUN_DIR: written when the engine is started; `scripts.health` compares with it.
STARTED = "started.json"
# In RUN_DIR: what the server's container writes for the exporter; both mount it.
READINGS = "readings"
# Variable by which `make up` has Prometheus run beside the server: the folder with its
# `prometheus.yml`, its data and its log. No setting, since no image has a Prometheus.
PROMETHEUS_DIR = "SUPERVISE_PROMETHEUS_DIR"


def _words(text: str) -> str:
    try:
        shlex.split(text)
    except ValueError as error:
        message = f"does not split into words as a shell would: {error}"
        raise ValueError(message) from error
    return text


_Folder = Annotated[Path, AfterValidator(Path.absolute)]


def _address(url: str) -> str:
    """Refuse what no client of HTTP can ask; raises `ValueError`."""
    message = "it must be http://HOST or http://HOST:PORT"
    if not re.fullmatch(r"https?://[^/?#\\\s\x00-\x1f\x7f]+", url):
        raise ValueError(message)
    found = urlsplit(url)
    host, port = found.hostname or "", found.port  # a `ValueError` for 99999
    if "[" in found.netloc:
        ipaddress.IPv6Address(host)
    elif not re.fullmatch(r"[\w.-]+", host, re.ASCII):
        raise ValueError(message)
    if port == 0:
        raise ValueError(message)
    host.encode("idna")  # a `UnicodeError` for a label that is empty or too long
    return url


_Url = Annotated[str, AfterValidator(_address)]


def _one_two_four_eight(number: int) -> int:
    if number not in {1, 2, 4, 8}:
        message = "it must be 1, 2, 4 or 8"
        raise ValueError(message)
    return number


class Settings(BaseSettings):
    """All settings, frozen; build it with `load`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True
    )

    model: str = Field(
        "qwen-1_8b-chat", description="Folder in MODELS_DIR that describes the model."
    )
    models_dir: _Folder = Field(
        Path(__file__).resolve().parents[1] / "models",
        description="Where the model descriptions lie.",
    )
    device: Literal["auto", "ascend", "cpu"] = Field(
        "auto", description="What computes; auto takes the NPU if the host has one."
    )
    weights_dir: _Folder = Field(Path("/models"), description="Where the weights lie.")
    weights_format: Literal["native", "original"] = Field(
        "native", description="native needs no remote code; original is as published."
    )
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        "auto", description="Number format; auto takes the model's for this device."
    )
    max_model_len: int | None = Field(
        None, ge=16, description="Longest prompt and reply in tokens; unset: the model's."
    )
    max_num_seqs: int | None = Field(
        None, ge=1, le=1024, description="Requests in one batch; unset: the model's."
    )
    memory_utilization: float = Field(
        0.9, gt=0, le=0.95, description="Share of the card's memory that is used."
    )
    tensor_parallel_size: Annotated[int, AfterValidator(_one_two_four_eight)] = Field(
        1, description="Cards that one replica spans."
    )
    data_parallel_size: int = Field(
        1, ge=1, le=16, description="Replicas behind one server."
    )
    drain_seconds: int = Field(
        30, ge=0, le=3600, description="Time for open requests to finish at a stop."
    )
    api_key: SecretStr | None = Field(
        None, description="File whose first line is the key that clients must send."
    )
    extra_args: Annotated[str, AfterValidator(_words)] = Field(
        "", description="More words for vLLM's command line, quoted as in a shell."
    )
    preset: Literal["tuned", "reference"] = Field(
        "tuned", description="reference is exactly the flags of the reference run."
    )
    listen_address: str = Field(
        "0.0.0.0",  # noqa: S104 - inside a container; compose publishes on loopback
        description="Address that the server and the exporter listen on.",
    )
    server_url: _Url = Field(
        f"http://127.0.0.1:{SERVER_PORT}",
        description="Where the exporter and the smoke test find the server.",
    )
    run_dir: _Folder = Field(
        Path("/run/bundle"), description="Small files that live as long as the server."
    )
    engine_python: str = Field(
        "python3", description="Python interpreter that has vLLM installed."
    )
    supervise_exporter: bool = Field(
        default=False, description="Run the exporter beside the server, not on its own."
    )
    probe_interval_seconds: float = Field(
        15, ge=0.1, le=3600, description="Pause between two probes of the exporter."
    )
    modelscope_endpoint: _Url = Field(
        "https://www.modelscope.cn",
        description="Model hub, or a mirror of it.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature
        init_settings: PydanticBaseSettingsSource,
        *_args: PydanticBaseSettingsSource,
        **_named: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read nothing behind the caller's back: `load` passes everything in."""
        return (init_settings,)


class _Environ(EnvSettingsSource):
    """pydantic-settings' reader over a given mapping instead of `os.environ`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._given = {name.lower(): value for name, value in environ.items()}
        super().__init__(Settings)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name: value for name, value in self._given.items() if value}


def load(environ: Mapping[str, str]) -> Settings:
    """Read the settings from `environ`.

    Raises:
        BadSettings: with every problem found, not only the first.
    """
    problems = [*_unknown(environ), *_plain_secrets(environ)]
    values: dict[str, Any] = {
        name: value
        for name, value in _Environ(environ)().items()
        if name not in _secret_fields()
    }
    for field in _secret_fields():
        secret = _read_secret(field, environ)
        if isinstance(secret, Problem):
            problems.append(secret)
        elif secret:
            values[field] = secret
    try:
        settings = Settings(**values)
    except ValidationError as error:
        problems += [_explain(detail) for detail in error.errors()]
    raise_all(BadSettings, problems)
    return settings


def variable(field: str) -> str:
    """Name of the environment variable that sets `field`."""
    return f"{PREFIX}{field.upper()}{'_FILE' if field in _secret_fields() else ''}"


def variables() -> list[str]:
    """Names of all environment variables that are settings."""
    return [variable(field) for field in Settings.model_fields]


def _secret_fields() -> list[str]:
    fields: dict[str, FieldInfo] = Settings.model_fields
    return [
        name for name, field in fields.items() if "SecretStr" in str(field.annotation)
    ]


def _unknown(environ: Mapping[str, str]) -> Iterator[Problem]:
    plain = [variable(field).removesuffix("_FILE") for field in _secret_fields()]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in [*variables(), *plain]:
            hint = _hint(name.removeprefix(PREFIX), environ[name])
            yield Problem(
                f"{name} is not a setting",
                f"{hint}; docs/configuration.md lists all settings",
            )


def _hint(name: str, value: str) -> str:
    """Say what to do about a variable that is no setting; `name` is without prefix."""
    if "://" in value and "PORT" in name:
        return "set enableServiceLinks: false; a Service of Kubernetes has set it"
    if name == "PORT" or name.endswith("_PORT"):
        return "unset it: ports in here are constants, PUBLISH_… in .env chooses a host's"
    # The prefix, which all share, would make any two names alike.
    known = [known.removeprefix(PREFIX) for known in variables()]
    near = difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)
    return f"rename it to {PREFIX}{near[0]}" if near else "unset it"


def _plain_secrets(environ: Mapping[str, str]) -> Iterator[Problem]:
    for field in _secret_fields():
        plain = variable(field).removesuffix("_FILE")
        if plain in environ:
            yield Problem(
                f"{plain} holds a secret, and an environment is readable by others",
                f"write it to a file and set {variable(field)} to that file's path",
            )


def _read_secret(field: str, environ: Mapping[str, str]) -> str | Problem | None:
    if not (path := environ.get(variable(field))):
        return None
    found = f"{variable(field)}={path!r}"
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        remedy = "name a text file that this user can read"
        return Problem(f"{found} cannot be read: {reason}", remedy)
    if not lines or not lines[0].strip():
        remedy = "put the secret on the first line of that file"
        return Problem(f"{found} has an empty first line", remedy)
    secret = lines[0].strip()
    if not secret.isascii() or not secret.isprintable():
        remedy = "use letters, digits and signs of ASCII, as a header of HTTP takes them"
        return Problem(f"{found} has a secret of other characters", remedy)
    return secret


def _explain(detail: ErrorDetails) -> Problem:
    field = str(detail["loc"][0])
    default = Settings.model_fields[field].default
    default = None if default == "" else default
    otherwise = "unset it" if default is None else f"unset it for the default {default}"
    rule = detail["msg"].removeprefix("Value error, ")
    rule = rule[0].lower() + rule[1:]
    return Problem(
        f"{variable(field)}={str(detail['input'])!r} is refused: {rule}",
        f"set it to a value that fits, or {otherwise}",
    )
