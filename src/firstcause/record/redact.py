"""Secrets out of whatever is about to be written: tokens, keys and passwords in arguments, variables, text and URLs.

A secret is known by its form (``hf_…``, ``AKIA…``, a private key), by the name it stands behind (``--api-key X``,
``password: X``, ``https://user:X@host``), or because a variable of the environment with such a name holds it. What
follows a name that may be innocent, such as ``token``, must look like a secret itself: ``--max-tokens 128`` stays.
"""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

HIDDEN = "[redacted]"
# A shorter value of a variable would be found by chance in a text that has nothing to do with it.
SHORTEST = 8
# Lists under these names are command lines.
COMMANDS = ("command", "argv")
LONGEST = 512

# The forms that those who hand them out have made recognisable.
_FORMS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|nvapi-[A-Za-z0-9_-]{20,}"
    r"|dckr_pat_[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,})"
)
_PRIVATE_KEY = re.compile(r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)[^-]{1,8192}")
_USER = re.compile(r"(\b[a-zA-Z][a-zA-Z0-9+.-]{1,15}://)([^\s/'\"<>]{1,512})@")
_HEADER = re.compile(
    r"(?i)\b(authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:(?:bearer|basic|token|digest)[ \t]{1,4})?)"
    r"([^\s\"',]{1,2048})"
)
_SCHEME = re.compile(r"(?i)\b(bearer|basic)(\s{1,4})([A-Za-z0-9._~+/=-]{8,2048})")

# Whole words of a name: what stands behind them is a secret, whatever it looks like.
_SURE = frozenset(
    [
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "pwd",
        "secret",
        "secrets",
        "credential",
        "credentials",
        "apikey",
        "accesskey",
        "secretkey",
        "authtoken",
        "accesstoken",
        "privatekey",
        "cookie",
        "cookies",
    ]
)
# Sure where one of the second stands before them in the name.
_PERHAPS = frozenset({"token", "key", "pat", "auth"})
_WHOSE = frozenset(
    [
        "api",
        "access",
        "auth",
        "authentication",
        "authorization",
        "secret",
        "private",
        "signing",
        "encryption",
        "ssh",
        "account",
        "service",
        "bearer",
        "refresh",
        "id",
        "session",
        "bot",
        "hf",
        "hub",
        "huggingface",
        "hugging",
        "github",
        "gh",
        "gitlab",
        "wandb",
        "aws",
        "azure",
        "gcp",
        "google",
        "openai",
        "anthropic",
        "slack",
        "telegram",
        "discord",
        "comet",
        "neptune",
        "mlflow",
        "clearml",
        "license",
        "subscription",
        "webhook",
        "client",
        "master",
    ]
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME = r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_.-]{0,120}"
# name = "value", name: value, "name": "value", name=value, --name value
_PAIR = re.compile(
    rf"""(?P<name>{_NAME})(?P<link>(?:\\?["'])?[ \t]{{0,4}}(?:=>|:=|[=:])[ \t]{{0,4}}|[ \t]{{1,4}}(?=["']?[^\s=:"']))"""
    rf"""(?P<value>\\"[^"\\\n]{{1,{LONGEST}}}\\"|"[^"\n]{{1,{LONGEST}}}"|'[^'\n]{{1,{LONGEST}}}'"""
    rf"""|[^\s"',;)\]}}&\\]{{1,{LONGEST}}})"""
)
# What stands behind a name in code and is no literal: another name, a call, a subscript.
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:[(\[]|$)")


def text(value: str, known: Iterable[str] = (), code: bool = False) -> str:
    """The text without its secrets; ``known`` are values that are secret wherever they stand.

    In ``code`` only a literal can be one: ``password = ask()`` is left as it is.
    """
    secrets = tuple(known)
    return _text(value, secrets, code) if len(value) > LONGEST else _short(value, secrets, code)


def _text(value: str, known: tuple[str, ...], code: bool) -> str:
    for secret in sorted({k for k in known if k}, key=len, reverse=True):
        value = value.replace(secret, HIDDEN)
    value = _PRIVATE_KEY.sub(rf"\1{HIDDEN}", value)
    value = _FORMS.sub(HIDDEN, value)
    value = _USER.sub(_without_password, value)
    if not code:
        value = _HEADER.sub(lambda m: m[0] if HIDDEN in m[2] else f"{m[1]}{HIDDEN}", value)
    value = _SCHEME.sub(lambda m: f"{m[1]}{m[2]}{HIDDEN}" if _is_random(m[3]) else m[0], value)
    return _pairs(value, code)


# A server that refuses one request after another writes the same lines of the same frames.
_short = functools.lru_cache(maxsize=4096)(_text)


def words(command: Sequence[str], known: Iterable[str] = ()) -> list[str]:
    """The words of a command line, each option's value looked at with its name, and no word more or less."""
    known = list(known)
    result: list[str] = []
    before = ""
    for word in command:
        # What a shell is given after -c is text with words of its own.
        option = None if before == "c" else re.fullmatch(r"(-{0,2})([A-Za-z_][\w.-]*)=(.*)", word, re.DOTALL)
        if option is not None and (_hides(option[2], option[3]) or _is_token(option[2], option[3])):
            result.append(f"{option[1]}{option[2]}={HIDDEN}")
        elif _follows(before, word):
            result.append(HIDDEN)
        else:
            result.append(text(word, known))
        before = word.lstrip("-") if re.fullmatch(r"--?[A-Za-z][\w.-]*", word) else ""
    return result


def _follows(option: str, word: str) -> bool:
    """Whether the word is the secret value of the option before it; the path of a file that holds one is none."""
    hides = bool(option) and (_hides(option, word) or _is_token(option, word))
    return hides and not word.startswith("-") and not os.path.exists(word)


def _is_token(option: str, content: str) -> bool:
    """Whether this is an option ``--token`` with what may be one: not a number, and not ``<pad>``."""
    return option == "token" and bool(re.fullmatch(r"[\w.~+/=-]{3,}", content)) and not content.isdigit()


def value(data: Any, known: Iterable[str] = (), name: str = "") -> Any:
    """JSON-ready data with every string in it redacted; a string's key counts as its name, but for a path."""
    if isinstance(data, str):
        return HIDDEN if name and os.sep not in name and _hides(name, data) else text(data, known)
    if isinstance(data, dict):
        of_code = {"file", "line", "text"} <= data.keys() and isinstance(data["text"], str)
        plain = {k: value(v, known, str(k)) for k, v in data.items()}
        return plain | {"text": text(data["text"], known, code=True)} if of_code else plain
    if isinstance(data, (list, tuple)):
        if name in COMMANDS and all(isinstance(w, str) for w in data):
            return words(data, known)
        return [value(v, known, name) for v in data]
    return data


def held(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values of the environment's variables whose names say that they are secret."""
    variables = os.environ if environment is None else environment
    found = (v for k, v in variables.items() if is_secret(k) or (_may_be(k) and _is_random(v)))
    # A short plain word, a number, and the path of the file with the secret would be met by chance in what is no secret.
    return tuple(v for v in found if len(v) >= SHORTEST and _is_odd(v) and not os.path.exists(v))


def _is_odd(content: str) -> bool:
    mixed = re.search("[0-9]", content) and re.search("[A-Za-z]", content)
    return bool(mixed) or bool(re.search(r"[^\w./-]", content)) or len(content) >= 16


@functools.lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether what a name stands for is a secret whatever it looks like: HF_TOKEN, --api-key, dbPassword."""
    parts = [p.lower() for p in _PARTS.findall(name)]
    if not parts:
        return False
    last = parts[-1]
    if last in _SURE or "".join(parts[-2:]) in _SURE:
        return True
    return last in _PERHAPS and any(p in _WHOSE or p in _SURE for p in parts[:-1])


@functools.lru_cache(maxsize=4096)
def _may_be(name: str) -> bool:
    parts = [p.lower() for p in _PARTS.findall(name)]
    return bool(parts) and (parts[-1] in _PERHAPS or any(p in _SURE for p in parts))


def _hides(name: str, content: str) -> bool:
    """Whether ``name content`` gives a secret away."""
    if content.startswith(HIDDEN[:-1]) or content.lower() in ("", "none", "null", "true", "false"):
        return False
    return is_secret(name) or (_may_be(name) and _is_random(content))


def _pairs(line: str, code: bool) -> str:
    """Values behind names."""
    parts: list[str] = []
    at = 0
    while (match := _PAIR.search(line, at)) is not None:
        name, given = match["name"], match["value"]
        bare = given.strip("\"'\\")
        # Without = or : between them, only an option and its value belong together.
        hidden = match["link"].strip() != "" or line.startswith("--", max(0, match.start() - 2))
        hidden = hidden and _hides(name, bare)
        if hidden and code and bare == given:
            hidden = _is_random(bare) and not _CODE.match(bare)
        if hidden:
            quote = given[: given.index(bare)]
            parts.append(f"{line[at : match.start('value')]}{quote}{HIDDEN}{quote}")
        else:
            parts.append(line[at : match.end("name")])
        at = match.end() if hidden else match.end("name")
    return "".join(parts) + line[at:]


def _without_password(match: re.Match[str]) -> str:
    user, colon, _ = match[2].partition(":")
    if colon:
        return f"{match[1]}{user}:{HIDDEN}@"
    # https://TOKEN@host
    return f"{match[1]}{HIDDEN}@" if _is_random(user) else match[0]


def _is_random(content: str) -> bool:
    """Whether a word looks drawn: at least 12 characters without a space, of several kinds, none of them often."""
    if len(content) < 12 or re.search(r"\s", content) or "/" in content[:2] or HIDDEN in content:
        return False
    kinds = sum(bool(re.search(kind, content)) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    if kinds < 2 or not re.search("[0-9]", content):
        return False
    counts = [content.count(c) / len(content) for c in set(content)]
    return -sum(p * math.log2(p) for p in counts) >= 2.8
