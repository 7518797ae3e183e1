"""The entries of config files that a parser gives to a library's classes, TrlParser and its kin: each must be one's argument."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.check.arguments import LIBRARIES
from firstcause.check.code import Call, Code
from firstcause.check.library_names import shortest
from firstcause.check.signatures import argument_standing, table
from firstcause.source.configs.file import ConfigFile
from firstcause.source.configs.parsed import METHODS, classes, config_word, named_config, option_config
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.launch import concerning
from firstcause.source.resolve import external, resolve

# Classes of trl that have no arguments of a trainer's name.
BESIDE = frozenset({"trl.ScriptArguments", "trl.ModelConfig", "trl.DatasetMixtureConfig"})


@dataclass(frozen=True, eq=False)
class Refused:
    """A key of a config file that one of the classes took in an older version, and none takes now."""

    config: ConfigFile
    key: ast.expr
    argument: str
    library: str
    name: str


def refused_settings(code: Code) -> Iterator[Refused]:
    """Keys that none of the classes takes any more, where all of them are known."""
    for call in code.methods(*(m.lstrip(".") for m in sorted(METHODS))):
        kinds = _kinds(code, call)
        if not kinds:
            continue
        for config in _configs(code, call):
            keys = config.root.keys if isinstance(config.root, ast.Dict) else []
            for key in keys:
                if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                    continue
                standings = [argument_standing(lib, name, key.value, code.versions) for lib, name in kinds]
                if "removed" in standings and set(standings) <= {"removed", "unknown"}:
                    library, name = kinds[standings.index("removed")]
                    yield Refused(config, key, key.value, library, name)


def _kinds(code: Code, call: Call) -> list[tuple[str, str]]:
    """The classes that are filled, by library and name; empty where one of them is not in a table."""
    found = []
    for kind, place in classes(new_walk(code.project), Value(call.module, call.node), call.node):
        name = shortest(external(resolve(code.project, place.module, kind)))
        library, _, last = name.rpartition(".")
        if name in BESIDE:
            continue
        known = table(library) if library in LIBRARIES else None
        if known is None or last not in known.calls:
            return []
        found.append((library, last))
    return found


def _configs(code: Code, call: Call) -> list[ConfigFile]:
    walk = new_walk(code.project)
    named = named_config(walk, Value(call.module, call.node), call.node)
    if named is not None:
        return [named]
    found = [config_word(walk, x) or option_config(walk, x) for x in concerning(code.project, call.module)]
    return [c for c in found if c is not None]
