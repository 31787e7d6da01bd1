"""Turn a GGUF file into a folder that vLLM serves.

Runs in the engine's Python, `python -m scripts.weights.gguf FILE TARGET`, since
transformers and gguf are only there; it imports nothing of ours.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

# Token types of the GGUF format: control tokens are what a tokenizer calls special.
_CONTROL = 3


def main(file: Path, target: Path) -> None:
    """Write weights in bfloat16, configuration, tokenizer and chat template."""
    _weights(file, target)
    fields = _fields(file)
    _tokenizer(fields, target)
    _generation_config(fields, target)


def _weights(file: Path, target: Path) -> None:
    import torch  # noqa: PLC0415 - only in the engine's Python
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - likewise

    model = AutoModelForCausalLM.from_pretrained(
        str(file.parent), gguf_file=file.name, dtype=torch.bfloat16
    )
    model.save_pretrained(target)
    for path in target.glob("*.safetensors"):
        path.chmod(0o644)  # the server may run as another user


def _fields(file: Path) -> dict[str, Any]:
    from gguf import GGUFReader  # noqa: PLC0415 - only in the engine's Python

    return {name: field.contents() for name, field in GGUFReader(file).fields.items()}


def _tokenizer(fields: dict[str, Any], target: Path) -> None:
    """Build the tokenizer from the file's own tables.

    transformers 5.5.4 takes every llama-like GGUF for CodeLlama and would add its
    special tokens; the file says gpt2 with the pre-tokenizer smollm.
    """
    from tokenizers import (  # noqa: PLC0415 - only in the engine's Python
        AddedToken,
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
    )
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415 - likewise

    kind = fields["tokenizer.ggml.model"], fields["tokenizer.ggml.pre"]
    if kind != ("gpt2", "smollm"):
        sys.exit(f"error: this converter knows no tokenizer {kind}")
    tokens: list[str] = fields["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    bpe = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    types = fields["tokenizer.ggml.token_type"]
    special = [
        token for token, kind in zip(tokens, types, strict=True) if kind == _CONTROL
    ]
    bpe.add_special_tokens(
        [AddedToken(t, special=True, normalized=False) for t in special]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        unk_token=tokens[fields["tokenizer.ggml.unknown_token_id"]],
        bos_token=tokens[fields["tokenizer.ggml.bos_token_id"]],
        eos_token=tokens[fields["tokenizer.ggml.eos_token_id"]],
        pad_token=tokens[fields["tokenizer.ggml.padding_token_id"]],
        model_max_length=fields["llama.context_length"],
    )
    fast.chat_template = fields["tokenizer.chat_template"]
    fast.save_pretrained(target)
    # The name under which transformers 4 and 5 both know it.
    path = target / "tokenizer_config.json"
    config = {
        **json.loads(path.read_text()),
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    path.write_text(json.dumps(config, indent=2) + "\n")


def _generation_config(fields: dict[str, Any], target: Path) -> None:
    names = {"bos_token_id": "bos", "eos_token_id": "eos", "pad_token_id": "padding"}
    config = {
        key: fields[f"tokenizer.ggml.{name}_token_id"] for key, name in names.items()
    }
    (target / "generation_config.json").write_text(json.dumps(config, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
