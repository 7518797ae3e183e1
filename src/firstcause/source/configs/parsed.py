"""Dataclasses that a parser fills from the command line or a config: a launch's options, a file's keys, their defaults."""

from __future__ import annotations

import ast
from dataclasses import replace

from firstcause.source.configs.file import ConfigFile
from firstcause.source.configs.opened import config_of, find
from firstcause.source.frames import Instance, Value
from firstcause.source.launch import Launch, concerning, given
from firstcause.source.objects import part
from firstcause.source.resolve import Defined, resolve
from firstcause.source.steps import Path
from firstcause.source.walk import Chain, Hop, Origin, Result, Walk

FILES = {".parse_json_file", ".parse_yaml_file"}
METHODS = {".parse_args_into_dataclasses", ".parse_args_and_config", *FILES}
FUNCTIONS = {"tyro.cli", "pyrallis.parse", "draccus.parse", "simple_parsing.parse"}
CONFIGS = (".json", ".yaml", ".yml")


def from_dataclasses(walk: Walk, value: Value, name: str, node: ast.Call, chain: Chain) -> Result:
    """An attribute of a parsed dataclass; None where it is not the project's own class, or the path is not known."""
    path = value.path
    index = 0
    if name in METHODS:
        if not path or not isinstance(path[0].key, int):
            return None
        index, path = path[0].key, path[1:]
    if not path or path[0].kind != "attr" or not isinstance(path[0].key, str):
        return None
    if name in FILES:
        return _from_file(walk, value, node, path, index, chain)
    starts = concerning(walk.project, value.module)
    if starts and name in METHODS and all(config_word(walk, x) for x in starts):
        return []
    found: list[Origin] = []
    for launch in starts:
        said = given(launch, path[0].key)
        config = option_config(walk, launch) if said is None else None
        place = Value(launch.file, said, None, path[1:]) if said is not None else None
        if config is not None and (str(path[0].key),) in config.nodes_by_path:
            place = Value(config, config.root, None, path)
        if place is None:
            default = _default(walk, value, node, path, index, chain)
            if default is None:
                return None
            found += default
            continue
        found += walk.trace(place, (*chain, Hop(place.module, place.node))) or []
    return found if starts else _default(walk, value, node, path, index, chain)


def option_config(walk: Walk, launch: Launch) -> ConfigFile | None:
    """The file that a launch names with ``--config``, as TrlParser and its kin take it."""
    words = launch.options.get("config", [])
    word = words[0] if len(words) == 1 else None
    if not isinstance(word, ast.Constant) or not isinstance(word.value, str):
        return None
    path = find(walk, launch.file, word.value)
    return walk.project.config(path) if path else None


def named_config(walk: Walk, value: Value, node: ast.Call) -> ConfigFile | None:
    """The file that ``parse_json_file`` or ``parse_yaml_file`` names in the code."""
    if not isinstance(node.func, ast.Attribute) or f".{node.func.attr}" not in FILES:
        return None
    argument = next((k.value for k in node.keywords), node.args[0] if node.args else None)
    return config_of(walk.fork(), value.at(argument)) if argument is not None else None


def config_word(walk: Walk, launch: Launch) -> ConfigFile | None:
    """The config that is a launch's only word after the script, as HfArgumentParser's programs take it."""
    last = launch.words[-1]
    if launch.options or not isinstance(last, ast.Constant) or not str(last.value).endswith(CONFIGS):
        return None
    path = find(walk, launch.file, str(last.value))
    return walk.project.config(path) if path else None


def _from_file(walk: Walk, value: Value, node: ast.Call, path: Path, index: int, chain: Chain) -> Result:
    named = named_config(walk, value, node)
    starts = [c for x in concerning(walk.project, value.module) if (c := config_word(walk, x))]
    files = [named] if named is not None else starts
    if not files:
        # A branch that only a command line with a file's name takes.
        return []
    found: list[Origin] = []
    for config in files:
        inner = walk.trace(Value(config, config.root, None, path), (*chain, Hop(config, config.root)))
        inner = inner if inner is not None else _default(walk, value, node, path, index, chain)
        if inner is None:
            return None
        found += inner
    return found


def _default(walk: Walk, value: Value, node: ast.Call, path: Path, index: int, chain: Chain) -> Result:
    cls = _class(walk, value, node, index)
    if cls is None or not isinstance(cls.node, ast.ClassDef):
        return None
    found = part(walk, Instance(cls.module, cls.node), path, chain)
    return None if found is None else [replace(o, kind="config") for o in found]


def _class(walk: Walk, value: Value, node: ast.Call, index: int) -> Defined | None:
    """The project's class that the parser fills at an index."""
    for kinds, place in classes(walk, value, node)[index : index + 1]:
        found = resolve(walk.project, place.module, kinds)
        return found if isinstance(found, Defined) else None
    return None


def classes(walk: Walk, value: Value, node: ast.Call) -> list[tuple[ast.expr, Value]]:
    """The classes that a parse call fills, in order, with where they are written."""
    parser = value.at(node)
    if isinstance(node.func, ast.Attribute) and node.func.attr.startswith("parse_"):
        made = [
            o.value for o in walk.trace(value.at(node.func.value), ()) or [] if isinstance(o.node, ast.Call)
        ]
        if len(made) == 1 and made[0] is not None:
            parser = made[0]
    call = parser.node
    if not isinstance(call, ast.Call):
        return []
    first = call.args[0] if call.args else next((k.value for k in call.keywords), None)
    origins = walk.trace(parser.at(first), ()) or [] if isinstance(first, ast.Name) else []
    written = next((o for o in origins if isinstance(o.node, (ast.Tuple, ast.List))), None)
    if written is not None and written.value is not None:
        parser, first = written.value, written.value.node
    kinds = first.elts if isinstance(first, (ast.Tuple, ast.List)) else [first] if first is not None else []
    return [(k, parser) for k in kinds]
