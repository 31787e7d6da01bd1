"""Every flag that we pass is one that vLLM 0.23.0 knows, with a value that it takes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bundle.model import load_model
from bundle.settings import load
from entrypoint.command import vllm_argv

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / ".venv/engine-cpu/bin/python"
SETTINGS: tuple[dict[str, str], ...] = (
    {},
    {"BUNDLE_WEIGHTS_FORMAT": "original"},
    {"BUNDLE_PRESET": "reference"},
    {"BUNDLE_TENSOR_PARALLEL_SIZE": "2", "BUNDLE_DATA_PARALLEL_SIZE": "4"},
)

# Reads command lines from stdin, one JSON list a line, and parses each.
_PARSE = """
import json, sys
from vllm.entrypoints.openai.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser
parser = make_arg_parser(FlexibleArgumentParser())
for line in sys.stdin:
    validate_parsed_serve_args(parser.parse_args(json.loads(line)))
    print("taken")
"""


def test_every_command_line_is_taken_by_the_engines_own_parser() -> None:
    if not ENGINE.exists():
        pytest.skip("the engine is not installed (`make process` does)")
    model = load_model(ROOT / "models", "qwen-1_8b-chat")
    lines = [
        vllm_argv(load(environ), model, family)[3:]
        for environ in SETTINGS
        for family in model.serving
    ]

    done = subprocess.run(
        [ENGINE, "-c", _PARSE],
        input="\n".join(json.dumps(line) for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("taken") == len(lines) == 20
