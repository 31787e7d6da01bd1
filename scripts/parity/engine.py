"""The engine itself as the candidate: whole distributions, and the last states.

vLLM would make a Python object of each of 151,936 log-probabilities of a position, some
15 MB a position; here its tensors are taken on their way there. One process, so that
they can be, and one request at a time, so that no batch changes the sums.
`scripts.parity.__main__` sets the environment that makes it one process.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.parity.texts import LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bundle.model import Dtype
    from scripts.parity.metrics import Array
    from scripts.parity.texts import Passages


@dataclass(frozen=True)
class Engine:
    """What to load; `eager` starts sooner, without graphs and compilation."""

    weights: Path
    dtype: Dtype
    eager: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of vLLM's LLM."""
        return {
            "model": str(self.weights),
            "dtype": self.dtype,
            "enforce_eager": self.eager,
            "max_model_len": LENGTH + 1,
            "max_num_seqs": 1,
            "enable_prefix_caching": False,
            "max_logprobs": -1,
            "seed": 0,
        }


def distributions(engine: Engine, passages: Passages) -> Iterator[Array]:
    """Give each passage's log-probabilities, (tokens - 1, vocabulary), float32."""
    from vllm import SamplingParams  # noqa: PLC0415 - only in the engine's Python

    sampling = SamplingParams(
        temperature=0, max_tokens=1, prompt_logprobs=-1, detokenize=False
    )
    with _started(**engine.options) as llm:
        taken = _taken(llm.llm_engine.engine_core)
        for passage in passages:
            prompt = {"prompt_token_ids": list(passage)}
            llm.generate([prompt], sampling, use_tqdm=False)
            yield _dense(taken)
            taken.clear()


def states(engine: Engine, passages: Passages) -> Iterator[Array]:
    """Give each passage's states after the last norm, (tokens, hidden size)."""
    from vllm import PoolingParams  # noqa: PLC0415 - only in the engine's Python
    from vllm.config import PoolerConfig  # noqa: PLC0415 - likewise

    pooling = {
        "runner": "pooling",
        "convert": "embed",
        "pooler_config": PoolerConfig(task="token_embed"),
    }
    options = {k: v for k, v in engine.options.items() if k != "max_logprobs"}
    with _started(**options, **pooling) as llm:
        for passage in passages:
            (found,) = llm.encode(
                [{"prompt_token_ids": list(passage)}],
                pooling_params=PoolingParams(use_activation=False),
                pooling_task="token_embed",
                use_tqdm=False,
            )
            yield np.asarray(found.outputs.data.double().cpu().numpy())


@contextmanager
def _started(**options: Any) -> Iterator[Any]:  # noqa: ANN401 - vLLM's own types
    from vllm import LLM  # noqa: PLC0415 - only in the engine's Python
    from vllm.distributed import cleanup_dist_env_and_memory  # noqa: PLC0415 - likewise

    llm = LLM(**options)
    try:
        yield llm
    finally:
        llm.llm_engine.engine_core.shutdown()
        del llm
        gc.collect()
        cleanup_dist_env_and_memory()


def _taken(core: Any) -> list[Any]:  # noqa: ANN401 - vLLM's InprocClient
    """Give the list that prompt log-probabilities will go to, as tensors."""
    taken: list[Any] = []
    answer = core.get_output

    def take() -> Any:  # noqa: ANN401 - vLLM's EngineCoreOutputs
        outputs = answer()
        for output in outputs.outputs:
            if output.new_prompt_logprobs_tensors is not None:
                taken.append(output.new_prompt_logprobs_tensors)
                output.new_prompt_logprobs_tensors = None
        return outputs

    core.get_output = take
    return taken


def _dense(parts: list[Any]) -> Array:
    """Order by token id; the first column repeats the token that came."""
    ids = np.concatenate([part.logprob_token_ids.cpu().numpy() for part in parts])
    logs = np.concatenate([part.logprobs.cpu().numpy() for part in parts])
    dense = np.full((len(ids), ids.shape[1] - 1), np.nan, np.float32)
    np.put_along_axis(dense, ids[:, 1:].astype(np.int64), logs[:, 1:], axis=1)
    return dense
