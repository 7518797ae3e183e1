"""Values from the command line and from config files: argparse options by their names, readers that are not followed."""

from __future__ import annotations

import ast
from dataclasses import replace

from firstcause.source.argv import positional
from firstcause.source.callsites import call_index
from firstcause.source.frames import Value
from firstcause.source.launch import concerning, given
from firstcause.source.looped_options import looped
from firstcause.source.module import FunctionNode, Module
from firstcause.source.parser_defaults import set_by_default
from firstcause.source.resolve import external, resolve
from firstcause.source.steps import Path, Step
from firstcause.source.walk import Chain, Hop, Origin, Result, Walk

CLICK = {"click.option", "click.argument", "click.decorators.option", "rich_click.option"}
PARSERS = {"parse_args", "parse_known_args", "parse_intermixed_args"}
CONFIG_READERS = {
    "yaml.safe_load", "yaml.load", "json.load", "json.loads", "tomllib.load", "tomllib.loads", "tomli.load", "toml.load",
    "os.getenv", "os.environ.get", "omegaconf.OmegaConf.load", "hydra.compose",
}  # fmt: skip


def from_parser(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """The default of the option that an attribute of parsed arguments names; the option itself where it has none."""
    path = value.path
    if isinstance(node.func, ast.Attribute) and node.func.attr == "parse_known_args":
        if not path or path[0].key != 0:
            return None
        path = path[1:]
    if not path or not isinstance(path[0].key, str):
        return None
    name = path[0].key
    declared = _declarations(walk, value, name)
    found: list[Origin] = []
    for place in declared:
        assert isinstance(place.node, ast.Call)
        at = _place(walk, place)
        said, is_left_out = launched(walk, value.at(node, path), place.module, name, chain, at)
        found += said
        if not is_left_out:
            continue
        later, surely = _set_later(walk, place, name, path, chain)
        found += later
        if surely:
            # A parser's own defaults go before those of its options.
            continue
        default = next((k.value for k in place.node.keywords if k.arg == "default"), None)
        if default is None:
            found.append(Origin("config", place.module, place.node, chain, exact=False))
            continue
        hops = (*chain, Hop(place.module, default))
        for origin in walk.trace(place.at(default, path[1:]), hops) or []:
            # The command line may say otherwise: whoever edits the default must compare it with the value seen.
            found.append(
                Origin("config", origin.module, origin.node, origin.hops, origin.exact, origin.value)
            )
    if not declared:
        calls = call_index(walk.project).by_name.get("add_argument", [])
        for one in looped(value.module, name, calls):
            said, is_left_out = launched(walk, value.at(node, path), value.module, name, chain)
            found += said if said else []
            found += _from_mapping(walk, one, path, chain) if is_left_out else []
    return found or None


def _set_later(walk: Walk, place: Value, name: str, path: Path, chain: Chain) -> tuple[list[Origin], bool]:
    """What ``set_defaults`` gives an option, and whether it is that in any case."""
    found: list[Origin] = []
    for one, surely in set_by_default(place, name):
        given_later = _from_mapping(walk, one, path, chain)
        found += given_later
        if given_later and surely:
            return found, True
    return found, False


def _from_mapping(walk: Walk, one: Value, path: Path, chain: Chain) -> list[Origin]:
    """What a mapping says of an option, where it says anything; the command line may say otherwise."""
    origins = walk.trace(Value(one.module, one.node, None, (*one.path, *path[1:])), chain) or []
    return [replace(o, kind="config") for o in origins if o.exact]


def launched(
    walk: Walk, value: Value, module: Module, name: str, chain: Chain, at: int | None = None
) -> tuple[list[Origin], bool]:
    """What the launches of a file's program give an option, and whether one of them leaves it to its default.

    ``at`` is the place of an option that is told by its place.
    """
    starts = concerning(walk.project, module)
    found: list[Origin] = []
    words = [given(x, name) if at is None else positional(x, at) for x in starts]
    for launch, node in zip(starts, words, strict=True):
        if node is not None:
            place = Value(launch.file, node, None, value.path[1:])
            found += walk.trace(place, (*chain, Hop(launch.file, node))) or []
    return found, not starts or None in words


def from_click(walk: Walk, value: Value, function: FunctionNode, name: str, chain: Chain) -> Result:
    """A parameter that ``click.option`` fills: from a launch, or by the option's default."""
    for decorator in getattr(function, "decorator_list", ()):
        if not isinstance(decorator, ast.Call) or destination(decorator) != name:
            continue
        if external(resolve(walk.project, value.module, decorator.func)) not in CLICK:
            continue
        default = next((k.value for k in decorator.keywords if k.arg == "default"), None)
        said, is_left_out = launched(
            walk, value.at(value.node, (Step("attr", name),)), value.module, name, chain
        )
        if not is_left_out:
            return said
        if default is None:
            return [*said, Origin("config", value.module, decorator, chain, exact=False)]
        traced = walk.trace(
            Value(value.module, default, None, value.path), (*chain, Hop(value.module, default))
        )
        return [*said, *(replace(o, kind="config") for o in traced or [])]
    return None


def _declarations(walk: Walk, value: Value, name: str) -> list[Value]:
    calls = call_index(walk.project).by_name.get("add_argument", [])
    found = [v for v in calls if isinstance(v.node, ast.Call) and destination(v.node) == name]
    near = [v for v in found if v.module is value.module]
    return near or found


def _place(walk: Walk, place: Value) -> int | None:
    """How many options before it are told by their places too; None for one that has a name on the command line."""
    assert isinstance(place.node, ast.Call)
    if not _is_placed(place.node):
        return None
    calls = call_index(walk.project).by_name.get("add_argument", [])
    placed = [v.node for v in calls if v.module is place.module and _is_placed(v.node)]
    return placed.index(place.node) if place.node in placed else None


def _is_placed(call: ast.AST) -> bool:
    if not isinstance(call, ast.Call):
        return False
    first = call.args[0] if call.args else None
    return (
        isinstance(first, ast.Constant) and isinstance(first.value, str) and not first.value.startswith("-")
    )


def destination(call: ast.Call) -> str:
    """The attribute under which argparse stores an option."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    names = [str(a.value) for a in call.args if isinstance(a, ast.Constant)]
    long = next((n for n in names if n.startswith("--")), names[0] if names else "")
    return long.lstrip("-").replace("-", "_")
