"""TOML with the line of every value: values by the standard reader, lines by the headers and names before them."""

from __future__ import annotations

import ast
import re
import sys
from typing import Any

from firstcause.source.configs.literal import MAX_DEPTH, NotRead, Places, Refused

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HEADER = re.compile(r"^[ \t]*\[{1,2}([^\]\n]+)\]{1,2}", re.MULTILINE)
_NAME = re.compile(r"""^[ \t]*((?:[\w\-.]+|"[^"\n]*"|'[^'\n]*'))[ \t]*=""", re.MULTILINE)


def parse(text: str) -> ast.expr:
    """The table of a TOML text; raises ``NotRead``."""
    text = text.replace("\r\n", "\n")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"line (\d+)", str(error))
        raise NotRead(int(match[1]) if match else 1, str(error)) from None
    except RecursionError:
        raise Refused(1, f"nested deeper than {MAX_DEPTH}") from None
    return _node(Places(text), table, (), _lines(text), 0)


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """Where each name is set, by its path."""
    found: dict[tuple[str, ...], int] = {}
    marks = [(m.start(1), m[1], True) for m in _HEADER.finditer(text)]
    marks += [(m.start(1), m[1], False) for m in _NAME.finditer(text)]
    section: tuple[str, ...] = ()
    for start, name, is_header in sorted(marks):
        parts = tuple(p.strip().strip("\"'") for p in name.split("."))
        if is_header:
            section = parts
        found.setdefault(parts if is_header else (*section, *parts), start)
    return found


def _node(
    places: Places, value: Any, path: tuple[str, ...], lines: dict[tuple[str, ...], int], depth: int
) -> ast.expr:
    if depth > MAX_DEPTH:
        raise Refused(1, f"nested deeper than {MAX_DEPTH}")
    start = next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), 0)
    if isinstance(value, dict):
        inner = {k: _node(places, v, (*path, k), lines, depth + 1) for k, v in value.items()}
        named = ((_key(places, k, v), v) for k, v in inner.items())
        return places.mapping(named, start, start)
    if isinstance(value, list):
        return places.sequence([_node(places, v, path, lines, depth + 1) for v in value], start, start)
    plain = value if isinstance(value, (str, int, float, bool)) else str(value)
    return places.constant(plain, start, start)


def _key(places: Places, name: str, item: ast.expr) -> ast.expr:
    start = places.starts[item.lineno - 1]
    return places.constant(name, start, start)
