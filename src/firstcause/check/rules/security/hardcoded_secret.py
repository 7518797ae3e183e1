"""A token or key stands in the source.

Why: whoever reads the repository, its history or a log can use it; it has to be revoked once it was committed.
Refuted by: placeholders (empty, "xxx", "<token>", "your-token"), where nothing random stands beside the word; names read
from the environment.
Holds for: every library.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SLUG = "hardcoded-secret"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The prefixes that services give to their tokens, from their own documentation.
PREFIXED = re.compile(
    r"^(hf_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{16,}|ghp_[A-Za-z0-9]{16,}|github_pat_\w{20,}|AKIA[0-9A-Z]{12,}|xox[bp]-[\w-]{10,}|glpat-[\w-]{16,})$"
)
NAMED = re.compile(
    r"(^|[_-])(token|api[_-]?key|secret|password|passwd|access_key|authorization)$", re.IGNORECASE
)
# OPENAI_KEY is a key as well; sort_key is none.
CONSTANT = re.compile(r"^[A-Z][A-Z0-9_]*_KEY$")
BLANK = re.compile(r"^(<.*>|\{.*\}|\$.*|(\w{1,5}[-_])?(x+|X+|\.+|\*+|0+))$")
WORDS = re.compile(
    r"your|changeme|change_me|example|placeholder|dummy|fake|none|todo|insert|replace|redacted", re.IGNORECASE
)
# Random tokens have more than 3 bits a character; words and paths have less or hold spaces.
ENTROPY, LENGTH = 3.3, 20
# A part of a token, between dashes, that no word explains.
PART_ENTROPY, PART_LENGTH = 3.0, 16
READS = ("getenv", "get", "setdefault", "pop")


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        for node in module.nodes(ast.Constant):
            if not isinstance(node.value, str) or not 8 < len(node.value) < 400:
                continue
            value = node.value.removeprefix("Bearer ")
            if not PREFIXED.match(value) and not (_is_named(module, node) and _is_random(value)):
                continue
            if not _is_made_up(value):
                shown = f"{value[:3]}…"
                text = f"a secret ({shown}, {len(value)} long) stands in the source: revoke it and read it from the environment"
                yield finding(SLUG, CATEGORY, module, node, text, key="secrets")


def _is_named(module: Module, node: ast.Constant) -> bool:
    """Whether the text is given to something that is called a token, a key or a password."""
    return any(NAMED.search(n) or CONSTANT.search(n) for n in _names(module.parents.get(node), node))


def _names(parent: ast.AST | None, node: ast.Constant) -> list[str]:
    """What a text is called: an argument, a variable, an entry, a variable of the environment that it stands in for."""
    if isinstance(parent, ast.keyword):
        return [parent.arg or ""]
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return [re.split(r"[.'\"\[]", ast.unparse(t).rstrip("'\"])"))[-1] for t in targets]
    if isinstance(parent, ast.Dict):
        keys = [k for k, v in zip(parent.keys, parent.values, strict=True) if v is node]
        return [str(k.value) for k in keys if isinstance(k, ast.Constant)]
    if isinstance(parent, ast.arguments):
        given = [*parent.posonlyargs, *parent.args]
        pairs = [
            *zip(given[::-1], parent.defaults[::-1], strict=False),
            *zip(parent.kwonlyargs, parent.kw_defaults, strict=True),
        ]
        return [a.arg for a, default in pairs if default is node]
    if isinstance(parent, ast.Call) and len(parent.args) == 2 and parent.args[1] is node:
        first, called = parent.args[0], last_name(parent.func)
        return [str(first.value)] if isinstance(first, ast.Constant) and called in READS else []
    return []


def _is_made_up(value: str) -> bool:
    """Whether a text only stands for a token; what is random beside "example" was a token once."""
    if BLANK.match(value):
        return True
    parts = re.split(r"[-_.:]", value)
    if len(parts) > 2 and all(p.isalpha() or len(p) < 5 for p in parts):
        # Words, and at most a year or a number with them.
        return not any(p.isalnum() and not p.isalpha() and not p.isdigit() for p in parts)
    if PREFIXED.match(value) and len(parts) < 3:
        # Of a service's own form, whatever word stands in it.
        return False
    return bool(WORDS.search(value)) and not any(
        _is_part(p) for p in re.split(r"[-_.:]", WORDS.sub("-", value))
    )


def _is_part(part: str) -> bool:
    mixed = any(c.isdigit() for c in part) and any(c.isalpha() for c in part)
    return len(part) >= PART_LENGTH and part.isalnum() and mixed and _bits(part) > PART_ENTROPY


def _is_random(value: str) -> bool:
    if len(value) < LENGTH or re.search(r"[\s/\\]", value):
        return False
    return _bits(value) > ENTROPY and any(c.isdigit() for c in value)


def _bits(value: str) -> float:
    """Bits a character, by how often each stands in a text."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


BAD = (
    Example("""
from huggingface_hub import login

login(token="hf_aBcD0123456789eFgH0123456789iJkL")  # found
"""),
    Example("""
import wandb

API_KEY = "9f3c1d7be04a5f6689ab23cd45ef01237788aa99"  # found
wandb.login(key=API_KEY)
"""),
    Example("""
from openai import OpenAI

client = OpenAI(base_url="http://localhost:8000/v1", api_key="gw-SAMPLE-7c01e9f3ab52d8846e1f")  # found
other = OpenAI(base_url="http://localhost:8000/v1", api_key="gw-EXAMPLE-7c01e9f3ab52d8846e1f")  # found
"""),
    Example("""
import os
import requests

PORTAL_KEY = os.environ.get("PORTAL_KEY", "7c01e9f3ab52d8846e1f00aa")  # found
headers = {"Authorization": "Bearer 7c01e9f3-ab52d884-6e1f00aa"}  # found

def ask(url, api_key="7c01e9f3ab52d8846e1f00aa"):  # found
    return requests.get(url, headers=headers)
"""),
)
GOOD = (
    Example("""
import os
from huggingface_hub import login

login(token=os.environ["HF_TOKEN"])
"""),
    Example("""
TOKEN = "<your-token-goes-here-0001>"
pad_token = "<|endoftext|>"
"""),
    Example("""
special_token = "[PAD]"
config = {"eos_token": "<|im_end|>", "password": ""}
"""),
    Example("""
from openai import OpenAI

for key in ("EMPTY", "not-needed"):
    OpenAI(base_url="http://localhost:8000/v1", api_key=key)
OpenAI(api_key="EMPTY")
OpenAI(api_key="not-needed-for-local-vllm-0")
OpenAI(api_key="sk-xxxxxxxxxxxxxxxxxxxxxxxx")
OpenAI(api_key="sk-your-api-key-goes-here-1")
OpenAI(api_key="token-abc123")
"""),
    Example("""
import os

api_key = os.environ.get("PORTAL_API_KEY", "your-portal-key-2024-here")
sort_key = "7c01e9f3ab52d8846e1f00aa"
"""),
)
