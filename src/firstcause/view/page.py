"""The page: as the server sends it, and with everything in it as one file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

STATIC = os.path.join(os.path.dirname(__file__), "static")
TYPES = {"css": "text/css", "js": "text/javascript"}
# Each module after those that it imports.
MODULES = (
    "dom",
    "axis",
    "plot",
    "heat",
    "lane",
    "beside",
    "failure",
    "source",
    "home",
    "run",
    "case",
    "main",
)
POLICY = (
    "default-src 'none'; {sources}; img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'"
)
RECORD = "application/x-firstcause-record"
_IMPORT = re.compile(r'^import (\{ .+ \}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)


def static(name: str) -> tuple[bytes, str] | None:
    """A file of the page and its type; None where the page has none of this name."""
    kind = TYPES.get(name.rpartition(".")[2])
    # Among the names that are there: no part of an address is a path.
    if kind is None or name not in os.listdir(STATIC):
        return None
    with open(os.path.join(STATIC, name), "rb") as file:
        return file.read(), kind


def served_page(start: str = "") -> str:
    """The page for a server; ``start`` is the part that is shown first, such as ``#run/ID``."""
    page = _read("index.html").replace("<!-- policy -->\n", "").replace("<!-- data -->\n", "")
    return page.replace("<body>", f'<body data-start="{_attribute(start)}">') if start else page


def one_file(pages: Sequence[Mapping[str, Any]], left_out: list[str], record: bytes, title: str) -> str:
    """The page with its style, its code, the data of ``pages`` (the first is shown first) and a packed record.

    Its policy allows this code and no other, and no address to load anything from.
    """
    style = f"\n{_read('page.css')}"
    code = f"\n{_joined()}"
    sources = f"script-src '{_digest(code)}'; style-src '{_digest(style)}'"
    policy = POLICY.format(sources=sources)
    data = gzip.compress(
        json.dumps({"pages": pages, "left_out": left_out}, allow_nan=False).encode(), 9, mtime=0
    )
    blocks = [("text/plain", "data", data), (RECORD, "record", record)]
    parts = {
        "<!-- policy -->": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<link rel="stylesheet" href="static/page.css">': f"<style>{style}</style>",
        "<title>firstcause</title>": f"<title>{_attribute(title)} · firstcause</title>",
        "<!-- data -->": "\n".join(
            f'<script type="{kind}" id="{name}">\n{base64.b64encode(content).decode()}\n</script>'
            for kind, name, content in blocks
        ),
        '<script type="module" src="static/main.js"></script>': f'<script type="module">{code}</script>',
    }
    page = _read("index.html")
    for old, new in parts.items():
        before, found, behind = page.partition(old)
        assert found, f"index.html lacks {old}"
        page = before + new + behind
    return page


def _joined() -> str:
    """The modules as one script, each a scope of its own that hands out what it exports."""
    parts = []
    for name in MODULES:
        text = _IMPORT.sub(r"const \1 = from_\2;", _read(f"{name}.js"))
        names = ", ".join(_EXPORT.findall(text))
        parts.append(f"const from_{name} = (() => {{\n{_EXPORT.sub('', text)}return {{ {names} }};\n}})();")
    return "\n".join(parts) + "\n"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _attribute(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _read(name: str) -> str:
    with open(os.path.join(STATIC, name), encoding="utf-8") as file:
        return file.read()
