"""Secrets are found by form, by name and by value, wherever they stand; and nothing else is touched."""

from __future__ import annotations

import json
import string
import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from firstcause.record import redact

DRAWN = string.ascii_letters + string.digits
# As services draw them: long, of several kinds.
RANDOM = st.text(DRAWN, min_size=20, max_size=60).filter(
    lambda t: any(c.isdigit() for c in t) and any(c.islower() for c in t) and len(set(t)) > 9
)
# As people choose them.
CHOSEN = st.text(DRAWN + "!#$%*+-_.~", min_size=4, max_size=24).filter(
    lambda t: t[0] not in "-." and t.lower() not in ("none", "null", "true", "false") and "redacted" not in t
)
SURE = st.sampled_from(
    ["password", "DB_PASSWORD", "apiKey", "api-key", "WANDB_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "client.secret", "AWS_SESSION_TOKEN", "passphrase", "hub_token"]
)  # fmt: skip
MAYBE = st.sampled_from(["token", "key", "JUPYTER_TOKEN", "auth", "my_pat", "login.key"])
FORMS = [
    "{name}={value}",
    "{name}: {value}",
    '{name} = "{value}"',
    "{name} = '{value}'",
    '{{"{name}": "{value}", "lr": 0.1}}',
    "failed with --{name} {value} at once",
    "https://host/path?a=1&{name}={value}&b=2",
    "{name} => {value}",
]
INNOCENT = [
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)",
    "--max-tokens 128 --num-keys=8 --pad-token <pad> --key-size 64",
    "KeyError: 'model.0.weight'",
    "https://github.com/a/b@v1.2",
    "user@host.com wrote 3 tokens, session 5",
    "the token is wrong and the password too short",
    "git@github.com:owner/name.git",
    "sources/6642a8c63106734ba2efa7d151d79cf7c5700d251dcd32667e22be48d7dd14db",
    "PWD kept; key: 5; token: 17; auth=None; password=None",
]
CODE = [
    "password = getpass()",
    "token = tokenizer(text)[0]",
    "key = random.PRNGKey(0)",
    "login(token=token, api_key=args.api_key)",
    "loss = -torch.log(model(batch) * scale).mean()",
    'secret = os.environ["WANDB_API_KEY"]',
]


@pytest.mark.parametrize("form", FORMS)
@given(name=SURE, value=CHOSEN)
def test_behind_a_sure_name_anything_is_a_secret(form: str, name: str, value: str) -> None:
    assume(value not in form and value not in name)
    assert value not in redact.text(form.format(name=name, value=value))


@pytest.mark.parametrize("form", FORMS)
@given(name=MAYBE, value=RANDOM)
def test_behind_a_name_that_may_be_innocent_what_looks_drawn_is_one(form: str, name: str, value: str) -> None:
    assert value not in redact.text(form.format(name=name, value=value))


@given(
    secret=st.text(DRAWN, min_size=20, max_size=40), before=st.text(max_size=15), after=st.text(max_size=15)
)
@pytest.mark.parametrize("head", ["hf_", "ghp_", "sk-", "glpat-", "npm_0123456789", "nvapi-"])
def test_known_forms_need_no_name(head: str, secret: str, before: str, after: str) -> None:
    assert secret not in redact.text(f"{before} {head}{secret} {after}")


@given(user=st.text(DRAWN, min_size=1, max_size=12), password=CHOSEN)
def test_urls_keep_user_and_host_only(user: str, password: str) -> None:
    assume(password not in "https://:@example.org:8080/x y" and password not in user)
    shown = redact.text(f"https://{user}:{password}@example.org:8080/x y")
    assert password not in shown
    assert shown.endswith("@example.org:8080/x y")


@given(value=RANDOM, before=st.text(max_size=40), after=st.text(max_size=40))
def test_the_environments_secrets_are_found_everywhere(value: str, before: str, after: str) -> None:
    known = redact.held({"WANDB_API_KEY": value, "HOME": "/home/somebody", "LR": "0.0123456789"})
    assert known == (value,)
    assert value not in redact.text(before + value + after, known)
    assert value not in json.dumps(redact.value({"a": [{"b": before + value}]}, known))


@given(name=SURE, value=CHOSEN, rest=st.lists(st.sampled_from(["--lr", "0.1", "train.py", "-v", "x=1"])))
def test_a_command_keeps_its_words_and_loses_its_secrets(name: str, value: str, rest: list[str]) -> None:
    assume(value not in " ".join(rest) and value not in name)
    for given_words in ([f"--{name}", value], [f"--{name}={value}"], [f"{name}={value}"]):
        shown = redact.words(["python", *rest, *given_words, *rest])
        assert value not in " ".join(shown)
        assert shown == ["python", *rest, *shown[1 + len(rest) : 1 + len(rest) + len(given_words)], *rest]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact.text(text) == text
    assert redact.words(text.split()) == text.split()


@pytest.mark.parametrize("line", CODE)
def test_code_without_a_literal_stays(line: str) -> None:
    assert redact.text(line, code=True) == line
    site = {"file": "train.py", "line": 3, "function": "f", "text": line}
    assert redact.value(site) == site


def test_a_literal_in_code_goes() -> None:
    assert (
        redact.text('login(key="0123456789abcdef0123", name="run")', code=True)
        == 'login(key="[redacted]", name="run")'
    )
    assert redact.text("api_key = 'short'", code=True) == "api_key = '[redacted]'"


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"),
        ('-H "Authorization: Bearer abc"', '-H "Authorization: Bearer [redacted]"'),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END",
            "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END",
        ),
        ('{\\"password\\": \\"x y\\"}', '{\\"password\\": \\"[redacted]\\"}'),
        ("AKIAABCDEFGHIJKLMNOP", "[redacted]"),
    ],
)
def test_other_forms(given_text: str, shown: str) -> None:
    assert redact.text(given_text) == shown


@given(st.text())
@example("password=[redacted]")
@example("--api-key [redacted] api_key: '[redacted]'")
def test_twice_is_as_once(text: str) -> None:
    once = redact.text(text)
    assert redact.text(once) == once


def test_a_shell_text_keeps_its_command() -> None:
    assert redact.words(["bash", "-c", "HF_TOKEN=abc python train.py"]) == [
        "bash",
        "-c",
        "HF_TOKEN=[redacted] python train.py",
    ]
    assert redact.words(["train.py", "--token", "abcdef", "--tokens", "5"]) == [
        "train.py",
        "--token",
        "[redacted]",
        "--tokens",
        "5",
    ]


@pytest.mark.parametrize(
    "piece", ["a", "a.", "a-", "password ", "x=y ", "://a", "eyJ", '"', 'api_key="', "-----BEGIN "]
)
def test_time_grows_with_length_alone(piece: str) -> None:
    began = time.monotonic()
    redact.text(piece * (200_000 // len(piece)))
    assert time.monotonic() - began < 5
