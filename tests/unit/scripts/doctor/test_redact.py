"""What is hidden before anything leaves the host, and what is not."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from scripts.doctor.redact import HIDDEN, redactor

if TYPE_CHECKING:
    from collections.abc import Callable

PLANTED = "PLANTEDsecret"

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
    "{}\n-----END RSA PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\n{}\n",
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


@pytest.mark.parametrize("word", ["x", "-", "a-", "--", "x://u:", "sk-", 'token: \\"'])
def test_a_log_that_is_one_long_word_takes_no_time(word: str) -> None:
    started = time.process_time()

    redactor({"MY_TOKEN": PLANTED}, [])(word * (500_000 // len(word)))

    assert time.process_time() - started < 5


def test_plain_text_is_left_alone() -> None:
    text = "INFO 11-30 tokens: 128, key-value cache 4 GiB, http://127.0.0.1:8000/v1\n"
    text += "--max-num-batched-tokens 8192, 192 bytes a token in all, tokenizer='/m'\n"

    assert redactor({"A_TOKEN": "x"}, [])(text) == text


def test_a_known_secret_is_hidden_wherever_it_stands() -> None:
    redact = redactor({"DB_PASSWORD": "longenough"}, ["another one"])

    assert redact("a-longenough-b, another one") == f"a-{HIDDEN}-b, {HIDDEN}"
