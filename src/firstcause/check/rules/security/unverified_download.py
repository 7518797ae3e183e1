"""Something is fetched from the network without a check of whom it comes from.

Why: whoever sits on the way can put other data, weights or code in its place.
Refuted by: https with verification, a hash that is compared.
Holds for: requests, urllib, every version.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "unverified-download"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

GETS = (
    "requests.get",
    "requests.post",
    "requests.request",
    "httpx.get",
    "httpx.post",
    "urllib.request.urlretrieve",
    "urllib.request.urlopen",
    "torch.hub.load_state_dict_from_url",
    "torch.hub.download_url_to_file",
)
LOCAL = ("http://localhost", "http://127.", "http://0.0.0.0", "http://[::1]", "http://192.168.", "http://10.")


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls(*GETS):
        verify = call.constant("verify")
        if verify is not None and verify.value is False:
            text = "verify=False accepts any certificate, also that of somebody in between"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="verify")
            continue
        place = 1 if call.name == "requests.request" else 0
        given = call.argument("url", place)
        known = code.text_of(given) if given is not None else None
        if known is None or not isinstance(known.value, str) or not known.value.startswith("http://"):
            continue
        # Names without a dot are services of the same network.
        host = known.value[7:].partition("/")[0]
        if (
            known.value.startswith(LOCAL)
            or "." not in host
            or "{}" in host
            or call.name in ("requests.post", "httpx.post")
        ):
            continue
        if not _checked(code):
            text = f"http:// ({host}) is not protected on the way; https is"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="url")


def _checked(code: Code) -> bool:
    return any(
        isinstance(n, ast.ImportFrom) and n.module == "hashlib"
        for m in code.modules
        for n in m.nodes(ast.ImportFrom)
    ) or code.imports("hashlib")


_BODY = """
import requests
import urllib.request

def fetch():
    return {get}{mark}
"""
BAD = (
    Example(
        _BODY.format(get='requests.get("https://data.example.org/x.bin", verify=False)', mark="  # found")
    ),
    Example(
        _BODY.format(
            get='urllib.request.urlretrieve("http://data.example.org/w.bin", "w.bin")', mark="  # found"
        )
    ),
)
GOOD = (
    Example(_BODY.format(get='requests.get("https://data.example.org/x.bin")', mark="")),
    Example(_BODY.format(get='requests.get("http://localhost:8000/health")', mark="")),
    Example(_BODY.format(get='requests.get("http://vllm/v1/models")', mark="")),
)
