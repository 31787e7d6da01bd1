"""What is hidden before anything leaves the host, and what is not."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from scripts.doctor.redact import HIDDEN, is_secret, redactor

if TYPE_CHECKING:
    from collections.abc import Callable

PLANTED = "PLANTEDsecret"
HEALTHY = (Path(__file__).parents[3] / "fixtures/healthy-log.txt").read_text()

# What a log may say of a secret that no variable holds.
SAID = (
    "Authorization: Basic {}dXNlcjpwYXNz",
    '"authorization": "Basic {}dXNlcjpwYXNz"',
    "Set-Cookie: session={}; Path=/",
    "x-api-key: {}",
    "curl -u user:{} http://127.0.0.1:8000",
    "https://{}@example.com/model.git",
    "http://user:pa/{}@proxy.example:3128",
    "GET /v1/models?key={}&page=1",
    "AWS_SECRET_ACCESS_KEY={}",
    "AccessKeySecret='{}'",
    "['--api-key', '{}', '--port', '8000']",
    '["--hf-token", "{}"]',
    "Namespace(api_key=['{}'], port=8000)",
    'ssl_key_password="with space {}"',
    'body {{\\"password\\": \\"with \' quote {}\\"}}',
    '{{"api_key": ["{}"]}}',
    '{{"auth": {{"user": "{}"}}}}',
    "eyJhbGciOiJI.{}.c2lnbmF0dXJl",
    "api_key=['first', '{}'], port=8000",
    "api_key: ['first', \"{}\"]",
    "api_key=[SecretStr('first'), SecretStr('{}')]",
    "api_key=b'{}'",
    "token = f'a {}'",
    "[(b'x-api-key', b'{}'), (b'host', b'a')]",
    "[(b'cookie', b'a={}')]",
    "['--api-key', 'first', '{}', '--port']",
    "--api-key first {} --port 8000",
    "--api-key \\\n  {}",
    '{{"argv": ["--api-key", "first", "{}"]}}',
    '["-u", "user:{}"]',
    "api_key:\n  - first\n  - {}\nport: 8000",
    "api_key:\n- first\n- {}\nport: 8000",
    "password: |\n  first\n  {}\nport: 8000",
    "- password: >-\n    {}\n- other",
    '{{"name": "HF_TOKEN", "value": "{}"}}',
    'said {{"name": "HF_TOKEN", "value": "{}"}}',
    '{{"value": "{}", "name": "DB_PASS"}}',
    "- name: API_KEY\n  value: {}",
    "AWS ASIAIOSFODNN7{}",
    "gho_{}",
    "ghs_{}",
    "ghp_{}",
    "github_pat_{}",
    "sk_live_{}",
    "nvapi-{}",
    "hf_{}",
    "xoxb-{}",
    "sk-proj-{}",
    "令牌Bearer {}",
    "密钥sk-proj-{}好",
    "PASS={}",
    "PGPASS={}",
    "export DB_PASS='{}'",
    "DB_PWD={}",
    "VLLM_KEY={}",
    "auth={}",
    '"auth": "{}"',
    "password := {}",
    "password：{}",  # noqa: RUF001 - as written in Chinese
    'client_secret="""{}"""',
    "HF_TOKEN='never closed {}",
    'said {{"token": "never closed {}',
    "eyJhbGciOiJkaXIifQ..{}.x",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE--\n{}\n-----END PRIVATE KEY-----",
    "{}\n-----END RSA PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\n{}\n",
)
HOSTILE = (
    *(
        "x",
        "-",
        "a-",
        "--",
        "-abc",
        "x://",
        "x://u:",
        "sk-",
        'token: \\"',
        "token",
        "?key",
    ),
    *(
        "eyJ-",
        "eyJaaaaaa.",
        "--user ",
        "bearer ",
        "a: ",
        "- ",
        "&a.",
        "api_key='",
        "name: ",
    ),
    *("-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END A", "password = ", "\\"),
    *("api_key=[", "a,", "--api-key ", "token:\n ", "authorization ", "密码"),
)
VALUES = (
    f'quo"te\\{PLANTED}',
    f"密码{PLANTED}",
    f"line 1\n{PLANTED} 2",
    f"p@ss/{PLANTED}",
)


def json_of_json(value: str) -> str:
    """Write it as a log does that quotes a request's body."""
    return json.dumps(json.dumps({"said": value}))


@pytest.mark.parametrize("said", SAID)
def test_a_secret_is_told_by_its_looks(said: str) -> None:
    assert PLANTED not in redactor({}, [])(said.format(PLANTED))


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("write", [str, repr, json.dumps, quote, json_of_json])
def test_a_known_secret_is_hidden_however_it_is_written(
    value: str, write: Callable[[str], str]
) -> None:
    assert PLANTED not in redactor({"MY_TOKEN": value}, [])(f"say {write(value)} loud")


def test_json_stays_json_and_its_numbers_stay() -> None:
    text = json.dumps({"api_key": 'a"b', "tokens": {"prompt": 12}, "url": "http://u:p@h"})

    assert json.loads(redactor({}, [])(text)) == {
        "api_key": HIDDEN,
        "tokens": {"prompt": 12},
        "url": f"http://{HIDDEN}h",
    }


@pytest.mark.parametrize("word", [*HOSTILE, *(f"{word}\n" for word in HOSTILE)])
def test_four_times_the_text_takes_four_times_as_long(word: str) -> None:
    """Whatever the text; 5 MB take about 5 s of a CPU."""

    def seconds(size: int) -> float:
        started = time.process_time()
        redactor({"MY_TOKEN": PLANTED}, [])(word * (size // len(word)))
        return time.process_time() - started

    assert seconds(200_000) < 8 * seconds(50_000) + 0.2


# As vLLM, uvicorn, torch and tokenizers write them.
PLAIN = """\
INFO 11-30 tokens: 128, key-value cache 4 GiB, http://127.0.0.1:8000/v1
--max-num-batched-tokens 8192, 192 bytes a token in all, tokenizer='/m'
non-default args: {'model': '/m', 'api_key': None, 'max_num_seqs': 16, 'hf_token': None}
config: tokenizer='/m', skip_tokenizer_init=False, tokenizer_mode=auto, token_ids=[1, 2]
hf_overrides=None, hf_config_path=None, hf_text_config=Qwen2Config, pad_token_id: 151643
eos_token='<|im_end|>', pad_token: "<|endoftext|>", eos_token_id=151645, max_tokens: 512
"pad_token": "<|endoftext|>", first_token: 0.25, per_token=3.5, prompt tokens = 5
INFO:     10.0.0.5:53480 - "POST /v1/chat/completions HTTP/1.1" 401 Unauthorized
vllm:prompt_tokens_total{model_name="q"} 5.0, time-per-output-token 5, forward_pass=3
[2026-12-01] took 12 ms-per-token, ms-2026-12-01T10, task-sk-learn-model, sk-learn-models
docker run --user 1000:1000 --group-add 1, ps -u root, --user nobody, bearer of news
KeyError: 'model', cache_key: abc, prefix_cache_hit keys=3, libms-abcdefg.so, bypass=1
--tokenizer-mode auto --kv-cache-dtype auto --served-model-name qwen Secrets: none
  File "/x/vllm/entrypoints/openai/api_server.py", line 7, in authenticate
"""


@pytest.mark.parametrize("line", [*PLAIN.splitlines(), *HEALTHY.splitlines()])
def test_plain_text_is_left_alone(line: str) -> None:
    environ = {"A_TOKEN": "x", "TOKENIZERS_PARALLELISM": "parallel"}

    assert redactor(environ, [])(line) == line


def test_lines_beside_a_secret_are_left_alone() -> None:
    text = f"'API_KEY={PLANTED}', 'PORT=8000'\n- api_key:\n    {PLANTED}\n- port\n{PLAIN}"

    assert redactor({}, [])(text) == text.replace(PLANTED, HIDDEN)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("HF_TOKEN", True),
        ("DB_PASS", True),
        ("PGPASS", True),
        ("DB_PWD", True),
        ("Authorization", True),
        ("apiKey", True),
        ("TOKENIZERS_PARALLELISM", False),
        ("pad_token", False),
        ("token_ids", False),
        ("max_tokens", False),
        ("tokens_per_second", False),
        ("author", False),
        ("PWD", False),
        ("BYPASS", False),
    ],
)
def test_what_a_name_says(name: str, secret: bool) -> None:  # noqa: FBT001 - of a table
    assert is_secret(name) == secret


def test_a_short_known_secret_is_hidden_as_a_word_only() -> None:
    redact = redactor({"DB_PASSWORD": "abc", "MY_TOKEN": "1234567"}, [])

    assert redact("abcd abc 12345678 a-1234567.") == f"abcd abc 12345678 a-{HIDDEN}."
    assert redact("密码1234567好") == f"密码{HIDDEN}好"


def test_a_known_secret_is_hidden_wherever_it_stands() -> None:
    redact = redactor({"DB_PASSWORD": "longenough"}, ["another one"])

    assert redact("a-longenough-b, another one") == f"a-{HIDDEN}-b, {HIDDEN}"
