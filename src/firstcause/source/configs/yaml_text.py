"""YAML with the place of every value; composed, never constructed, so no tag of it can run anything."""

from __future__ import annotations

import ast
import re

import yaml

from firstcause.source.configs.literal import MAX_DEPTH, NotRead, Places, Refused, scalar

# The composer is written in Python and takes about 40 microseconds a character.
MAX_CHARACTERS = 100_000
MAX_VALUES = 50_000
_CORE = "tag:yaml.org,2002:"
_PLAIN = frozenset({"null", "bool", "int", "float", "str", "seq", "map", "timestamp", "merge", "binary"})
_TRUE = ("true", "yes", "on")
_INTERPOLATED = re.compile(r"\$\{([\w.\-]+)\}")


def parse(text: str) -> ast.expr:
    """The one document of a YAML text; raises ``NotRead``, or ``Refused`` for bombs, cycles and a program's own tags."""
    if len(text) > MAX_CHARACTERS:
        raise Refused(1, f"YAML of more than {MAX_CHARACTERS} characters")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise NotRead(mark.line + 1 if mark else 1, error.problem or str(error.context)) from None
    except yaml.YAMLError as error:
        raise NotRead(1, str(error).partition("\n")[0]) from None
    except RecursionError:
        raise Refused(1, f"nested deeper than {MAX_DEPTH}") from None
    places = Places(text, MAX_VALUES)
    if root is None:
        return places.mapping((), 0, 0)
    found = _converted(places, root, 0)
    _interpolate(found)
    return found


def _converted(places: Places, node: yaml.Node, depth: int) -> ast.expr:
    start, end = node.start_mark.index, node.end_mark.index
    line = node.start_mark.line + 1
    if depth > MAX_DEPTH:
        raise Refused(line, f"nested deeper than {MAX_DEPTH}, or an alias within itself")
    kind = node.tag.removeprefix(_CORE)
    if kind not in _PLAIN:
        raise Refused(line, f"a tag of a program's own: {node.tag[:60]}")
    if isinstance(node, yaml.MappingNode):
        return places.mapping(_pairs(places, node, depth), start, end)
    if isinstance(node, yaml.SequenceNode):
        return places.sequence([_converted(places, n, depth + 1) for n in node.value], start, end)
    return places.constant(_scalar(node, kind), start, end)


def _pairs(places: Places, node: yaml.MappingNode, depth: int) -> list[tuple[ast.expr, ast.expr]]:
    merged: list[tuple[ast.expr, ast.expr]] = []
    own: list[tuple[ast.expr, ast.expr]] = []
    for key, item in node.value:
        if key.tag != f"{_CORE}merge":
            own.append((_converted(places, key, depth + 1), _converted(places, item, depth + 1)))
            continue
        for source in item.value if isinstance(item, yaml.SequenceNode) else [item]:
            if isinstance(source, yaml.MappingNode):
                if depth > MAX_DEPTH:
                    raise Refused(key.start_mark.line + 1, "a mapping merged into itself")
                merged += _pairs(places, source, depth + 1)
    return [*merged, *own]


def _scalar(node: yaml.ScalarNode, kind: str) -> object:
    written: str = node.value
    if kind == "null":
        return None
    if kind == "bool":
        return written.lower() in _TRUE
    if kind in ("int", "float") or (kind == "str" and node.style is None):
        # YAML 1.1 takes 1e-4 for a text; those who write it mean a number, and OmegaConf reads it as one.
        value = scalar(written.replace("_", "")) if kind in ("int", "float") else scalar(written)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return value if is_number else written
    return written


def _interpolate(root: ast.expr) -> None:
    """Put what ``${a.b}`` names in its place; where that leads nowhere the text stays.

    ``written`` of what is put there is the text: another file or a command line may give the name another value.
    """
    for node in [n for n in ast.walk(root) if isinstance(n, ast.Dict)]:
        for index, item in enumerate(node.values):
            for _ in range(5):
                match = _INTERPOLATED.fullmatch(str(item.value)) if isinstance(item, ast.Constant) else None
                found = _at(root, match[1].split(".")) if match else _joined(root, item)
                if not isinstance(found, ast.Constant):
                    break
                item = found
            first = node.values[index]
            if item is not first and isinstance(item, ast.Constant) and isinstance(first, ast.Constant):
                item = ast.copy_location(ast.Constant(item.value), item)
                item.written = first.value  # type: ignore[attr-defined]
            node.values[index] = item


def _joined(root: ast.expr, item: ast.expr | None) -> ast.expr | None:
    """A text with ``${a.b}`` within it, each in its place; None where one of them leads nowhere."""
    text = item.value if isinstance(item, ast.Constant) else None
    if item is None or not isinstance(text, str) or not _INTERPOLATED.search(text):
        return None
    parts = {m[0]: _at(root, m[1].split(".")) for m in _INTERPOLATED.finditer(text)}
    for written, part in parts.items():
        if not isinstance(part, ast.Constant):
            return None
        text = text.replace(written, str(part.value))
    return ast.copy_location(ast.Constant(text), item)


def _at(node: ast.expr, keys: list[str]) -> ast.expr | None:
    for key in keys:
        if not isinstance(node, ast.Dict):
            return None
        pairs = zip(node.keys, node.values, strict=True)
        found = next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == key), None)
        if found is None:
            return None
        node = found
    return node
