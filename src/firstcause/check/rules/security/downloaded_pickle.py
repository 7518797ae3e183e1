"""A file from the network is unpickled.

Why: a pickle runs whatever its author put into it; who controls the address, or the way to it, runs code here.
Refuted by: safetensors, JSON, weights_only=True, a checked hash.
Holds for: Python, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import call_of
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "downloaded-pickle"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

READERS = (
    "pickle.load",
    "pickle.loads",
    "joblib.load",
    "dill.load",
    "dill.loads",
    "cloudpickle.load",
    "cloudpickle.loads",
)
DOWNLOADS = (
    "huggingface_hub.hf_hub_download",
    "huggingface_hub.snapshot_download",
    "urllib.request.urlopen",
    "urllib.request.urlretrieve",
    "requests.get",
    "gdown.download",
    "wget.download",
)


def find(code: Code) -> Iterator[Finding]:
    if code.calls("hashlib.sha256", "hashlib.md5", "hashlib.sha1"):
        return
    for call in code.calls(*READERS):
        source = next((d for d in _sources(code, call) if d.name in DOWNLOADS), None)
        if source is not None:
            text = f"{call.name} runs whatever code the file from {source.name} holds; safetensors or JSON hold data alone"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, related=(source.site,))


def _sources(code: Code, call: Call) -> Iterator[Call]:
    """The calls that what is read came from, through open() and .content."""
    waiting = [(call.module, a) for a in call.node.args[:1]]
    for _ in range(8):
        if not waiting:
            return
        module, node = waiting.pop()
        for origin in code.origins(module, node):
            inner = origin.node
            while isinstance(inner, (ast.Attribute, ast.Subscript)):
                inner = inner.value
            if isinstance(inner, ast.Name):
                waiting.append((origin.module, inner))
            if isinstance(inner, ast.Call):
                found = call_of(code, origin.module, inner)
                yield found
                if (
                    found.name in ("builtins.open", "io.BytesIO", "gzip.open", "os.path.join", ".read")
                    and inner.args
                ):
                    waiting.append((origin.module, inner.args[0]))
                elif found.receiver is not None:
                    waiting.append((origin.module, found.receiver))


_BODY = """
import pickle
import requests
from huggingface_hub import hf_hub_download

def fetch(address):
    {body}{mark}
"""
BAD = (
    Example(_BODY.format(body="return pickle.loads(requests.get(address).content)", mark="  # found")),
    Example(
        _BODY.format(
            body='path = hf_hub_download("org/repo", "data.pkl")\n    with open(path, "rb") as file:\n'
            "        return pickle.load(file)",
            mark="  # found",
        )
    ),
)
GOOD = (
    Example(
        _BODY.format(body='with open("own.pkl", "rb") as file:\n        return pickle.load(file)', mark="")
    ),
    Example(_BODY.format(body="return requests.get(address).json()", mark="")),
    Example(_BODY.format(body="return pickle.loads(address)", mark="")),
)
