"""Settings: declared once, all errors at once, secrets never shown."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests
import yarl
from hypothesis import given
from hypothesis import strategies as st

from bundle.errors import BadSettings
from bundle.settings import Settings, load, variable


def refused(environ: dict[str, str]) -> list[str]:
    """Give what is wrong with `environ`, a sentence each."""
    with pytest.raises(BadSettings) as caught:
        load(environ)
    return [problem.what for problem in caught.value.problems]


def test_nothing_set_gives_the_defaults() -> None:
    settings = load({"PATH": "/bin"})

    assert settings.model == "qwen-1_8b-chat"
    assert settings.weights_dir == Path("/models")
    assert settings.max_num_seqs is None


def test_words_become_typed_values() -> None:
    environ = {"BUNDLE_TENSOR_PARALLEL_SIZE": "4", "BUNDLE_SUPERVISE_EXPORTER": "true"}

    settings = load(environ)

    assert settings.tensor_parallel_size == 4
    assert settings.supervise_exporter is True


def test_an_empty_value_is_an_unset_one() -> None:
    # compose passes BUNDLE_X= for a variable that the operator left out
    assert load({"BUNDLE_MODEL": ""}).model == "qwen-1_8b-chat"


def test_a_relative_folder_is_made_absolute() -> None:
    assert load({"BUNDLE_WEIGHTS_DIR": "w"}).weights_dir == Path.cwd() / "w"


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(BadSettings) as caught:
        load({"BUNDLE_MODLE": "x"})

    (problem,) = caught.value.problems
    assert problem.what == "BUNDLE_MODLE is not a setting"
    assert problem.remedy.startswith("rename it to BUNDLE_MODEL;")


def test_an_unknown_name_that_is_like_none_is_to_be_unset() -> None:
    with pytest.raises(BadSettings) as caught:
        load({"BUNDLE_FOO": "x"})

    assert caught.value.problems[0].remedy.startswith("unset it;")


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("BUNDLE_PORT", "8080", "unset it: ports in here are constants"),
        ("BUNDLE_SERVER_PORT", "8080", "unset it: ports in here are constants"),
        ("BUNDLE_PORT", "tcp://10.0.0.1:80", "set enableServiceLinks: false"),
        ("BUNDLE_PORT_80_TCP", "tcp://10.0.0.1:80", "set enableServiceLinks: false"),
        ("BUNDLE_HOST", "::", "unset it;"),
        ("BUNDLE_DEVICES", "cpu", "rename it to BUNDLE_DEVICE;"),
    ],
)
def test_no_remedy_misleads(name: str, value: str, remedy: str) -> None:
    with pytest.raises(BadSettings) as caught:
        load({name: value})

    assert caught.value.problems[0].remedy.startswith(remedy)


@pytest.mark.parametrize("name", ["BUNDLE_SERVER_URL", "BUNDLE_MODELSCOPE_ENDPOINT"])
@pytest.mark.parametrize(
    "url",
    [
        *("http://a..b", "http://[::1", "http://[x]", "ftp://x", "http://", "http://:80"),
        *(
            "http://h:99999",
            "http://h:0",
            "http://[::1]:0",
            "http://h:x",
            "http://h\x00",
            "http://h\n",
        ),
        *("http://h/x", "http://h?x", "http://h#x", "http://h\\x", f"http://{'a' * 64}"),
        *("http://.", "http://@", "http://\u6a21", "http:///", "http://u:p@"),
    ],
)
def test_an_address_that_no_client_takes_is_refused(name: str, url: str) -> None:
    (what,) = refused({name: url})

    assert what.startswith(f"{name}={url!r} is refused: ")


@given(st.text(st.sampled_from("ab.-_:[]@%0189/?#"), max_size=20))
def test_an_address_that_is_taken_can_be_asked(rest: str) -> None:
    """By both clients that we have; each raises for what it cannot ask."""
    try:
        url = load({"BUNDLE_SERVER_URL": f"http://{rest}"}).server_url
    except BadSettings:
        return

    assert requests.Request("GET", f"{url}/health").prepare().url
    assert yarl.URL(f"{url}/health").host


def test_every_error_is_reported_in_one_go() -> None:
    found = refused(
        {
            "BUNDLE_NO_SUCH_THING": "1",
            "BUNDLE_MAX_NUM_SEQS": "0",
            "BUNDLE_TENSOR_PARALLEL_SIZE": "3",
            "BUNDLE_API_KEY_FILE": "/nonexistent/key",
        }
    )

    assert len(found) == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BUNDLE_DEVICE", "gpu"),
        ("BUNDLE_WEIGHTS_FORMAT", "gguf"),
        ("BUNDLE_DTYPE", "int8"),
        ("BUNDLE_PRESET", "fast"),
        ("BUNDLE_MAX_MODEL_LEN", "15"),
        ("BUNDLE_MAX_MODEL_LEN", "many"),
        ("BUNDLE_MAX_NUM_SEQS", "-1"),
        ("BUNDLE_MEMORY_UTILIZATION", "0"),
        ("BUNDLE_MEMORY_UTILIZATION", "1.5"),
        ("BUNDLE_MEMORY_UTILIZATION", "nan"),
        ("BUNDLE_TENSOR_PARALLEL_SIZE", "3"),
        ("BUNDLE_DATA_PARALLEL_SIZE", "17"),
        ("BUNDLE_DRAIN_SECONDS", "-1"),
        ("BUNDLE_EXTRA_ARGS", "--a 'b"),
        ("BUNDLE_SERVER_URL", "localhost:8000"),
        ("BUNDLE_SUPERVISE_EXPORTER", "perhaps"),
        ("BUNDLE_MODELSCOPE_ENDPOINT", "ftp://hub"),
    ],
)
def test_a_value_out_of_range_is_named_with_what_was_found(name: str, value: str) -> None:
    (what,) = refused({name: value})

    assert what.startswith(f"{name}={value!r} is refused: ")


def test_a_secret_comes_from_a_file_and_is_never_printed(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")

    settings = load({"BUNDLE_API_KEY_FILE": str(tmp_path / "key")})

    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "s3cret"
    assert "s3cret" not in f"{settings!r} {settings}"


def test_a_secret_in_the_environment_is_refused_without_repeating_it() -> None:
    with pytest.raises(BadSettings) as caught:
        load({"BUNDLE_API_KEY": "s3cret"})

    assert "BUNDLE_API_KEY_FILE" in caught.value.problems[0].remedy
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"\nkey", b"\xff\xfe\x00", b"k\x07", "\u5bc6".encode()]
)
def test_a_key_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)

    assert len(refused({"BUNDLE_API_KEY_FILE": str(tmp_path / "key")})) == 1


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load({}).model = "other"  # type: ignore[misc]


def test_every_setting_says_what_it_is_for() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, variable(name)
