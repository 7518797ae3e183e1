"""How a walk goes through the calls that read a config: into the file, to the line of the value."""

from __future__ import annotations

import ast

from firstcause.source.configs.file import ConfigFile
from firstcause.source.configs.opened import config_of
from firstcause.source.frames import Value
from firstcause.source.walk import Chain, Hop, Result, Walk

READERS = {
    "yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "json.load", "json.loads", "tomllib.load",
    "tomllib.loads", "tomli.load", "tomli.loads", "toml.load", "toml.loads", "omegaconf.OmegaConf.load", "orjson.loads",
}  # fmt: skip
# What is given in a later place says otherwise than what is given before.
MERGING = {"omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.unsafe_merge"}
# The same mapping in another class.
SAME = {
    "omegaconf.OmegaConf.create", "omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.structured",
    "omegaconf.OmegaConf.to_object",
}  # fmt: skip


def file_read(walk: Walk, value: Value, name: str) -> ConfigFile | None:
    """The config file that a call reads, where it is a known reader and the file is there."""
    node = value.node
    if not walk.project.configured or name not in READERS or not isinstance(node, ast.Call) or not node.args:
        return None
    config = config_of(walk.fork(), value.at(node.args[0]))
    if config is not None:
        config.readers.add(name)
    return config


def into(walk: Walk, config: ConfigFile, value: Value, chain: Chain) -> Result:
    """What stands in a file at a value's path."""
    return walk.trace(Value(config, config.root, None, value.path), (*chain, Hop(config, config.root)))


def merged(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """A key of ``OmegaConf.merge``: of the last of its arguments that has it; None where one is not known."""
    if not value.path:
        return None
    for given in reversed(node.args):
        found = walk.trace(value.at(given, value.path), chain)
        if found is not None:
            return found
        if not _is_mapping(walk, value.at(given)):
            return None
    return None


def _is_mapping(walk: Walk, value: Value) -> bool:
    """Whether an argument of a merge is known whole, so that a key which it lacks is surely not there."""
    origins = walk.trace(value, ()) or []
    known = all((isinstance(o.node, ast.Dict) and o.exact) or _is_empty(o.node) for o in origins)
    return known if origins else _is_empty(value.node)


def _is_empty(node: ast.AST) -> bool:
    # What a command line adds is not in the code.
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "from_cli"
