"""A config file as a virtual module: one literal, whose sites are lines of the file."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from firstcause.source.configs.literal import NotRead
from firstcause.source.module import Module

# The module that reads each format, imported when a file of it is met: most programs have none, and YAML's reader is slow.
FORMATS = {".json": "json_text", ".yaml": "yaml_text", ".yml": "yaml_text", ".toml": "toml_text"}


@dataclass(frozen=True)
class Entry:
    """A value of a config file and the line on which it stands."""

    value: Any
    line: int


class ConfigFile(Module):
    """A YAML, JSON or TOML file; raises ``NotRead`` where its format does not allow it."""

    def __init__(self, path: str, name: str, raw: bytes, suffix: str) -> None:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            raise NotRead(line, f"not UTF-8: byte 0x{raw[error.start]:02x} on this line") from None
        reader = importlib.import_module(f"firstcause.source.configs.{FORMATS[suffix]}")
        self.root: ast.expr = reader.parse(text)
        # The calls that read it, by dotted name; ``hydra`` where Hydra does.
        self.readers: set[str] = set()
        # What its defaults list names and no file is found for.
        self.lacking: set[str] = set()
        self._hold(path, name, text, ast.Module([ast.Expr(self.root)], []))

    @cached_property
    def paths(self) -> Mapping[ast.AST, tuple[str, ...]]:
        """The path of names at which each value stands."""
        return {node: path for path, node in _walked(self.root, ())}

    @cached_property
    def nodes_by_path(self) -> Mapping[tuple[str, ...], ast.expr]:
        return dict(_walked(self.root, ()))

    @cached_property
    def entries(self) -> Mapping[tuple[str, ...], Entry]:
        """Every value that is no mapping, by its path of names."""
        return {
            path: Entry(ast.literal_eval(node), node.lineno)
            for path, node in _walked(self.root, ())
            if not isinstance(node, ast.Dict)
        }


def _walked(node: ast.expr, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ast.expr]]:
    yield path, node
    if isinstance(node, ast.Dict):
        for key, item in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                yield from _walked(item, (*path, str(key.value)))
