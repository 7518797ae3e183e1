"""A token or key stands in the source.

Why: whoever reads the repository, its history or a log can use it; it has to be revoked once it was committed.
Refuted by: placeholders (empty, "xxx", "<token>", "your-token"), names read from the environment.
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

SLUG = "hardcoded-secret"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The prefixes that services give to their tokens, from their own documentation.
PREFIXED = re.compile(
    r"^(hf_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{16,}|ghp_[A-Za-z0-9]{16,}|github_pat_\w{20,}|AKIA[0-9A-Z]{12,}|xox[bp]-[\w-]{10,}|glpat-[\w-]{16,})$"
)
NAMED = re.compile(r"(^|_)(token|api_?key|secret|password|passwd|access_key)$", re.IGNORECASE)
PLACEHOLDER = re.compile(
    r"^(<.*>|\{.*\}|\$.*|x+|\.+|\*+|.*(your|changeme|example|placeholder|dummy|none|todo|insert).*)$",
    re.IGNORECASE,
)
# Random tokens have more than 3 bits a character; words and paths have less or hold spaces.
ENTROPY, LENGTH = 3.3, 20


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        for node in module.nodes(ast.Constant):
            if not isinstance(node.value, str) or not 8 < len(node.value) < 400:
                continue
            value = node.value
            if PREFIXED.match(value) or (_is_named(module.parents.get(node), node) and _is_random(value)):
                shown = f"{value[:3]}…"
                text = f"a secret ({shown}, {len(value)} long) stands in the source: revoke it and read it from the environment"
                yield finding(SLUG, CATEGORY, module, node, text, key="secrets")


def _is_named(parent: ast.AST | None, node: ast.AST) -> bool:
    """Whether the text is given to something that is called a token, a key or a password."""
    if isinstance(parent, ast.keyword):
        return bool(parent.arg and NAMED.search(parent.arg))
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(NAMED.search(ast.unparse(t).strip("'\"])")) for t in targets)
    if isinstance(parent, ast.Dict):
        keys = [k for k, v in zip(parent.keys, parent.values, strict=True) if v is node]
        return any(isinstance(k, ast.Constant) and NAMED.search(str(k.value)) for k in keys)
    return False


def _is_random(value: str) -> bool:
    if PLACEHOLDER.match(value) or len(value) < LENGTH or re.search(r"[\s/\\]", value):
        return False
    counts = Counter(value)
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    return bits > ENTROPY and any(c.isdigit() for c in value)


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
)
