"""Values from the command line and from config files: argparse options by their names, readers that are not followed."""

from __future__ import annotations

import ast

from firstcause.source.callsites import call_index
from firstcause.source.frames import Value
from firstcause.source.walk import Chain, Hop, Origin, Result, Walk

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
    declared = _declarations(walk, value, path[0].key)
    found: list[Origin] = []
    for place in declared:
        assert isinstance(place.node, ast.Call)
        given = next((k.value for k in place.node.keywords if k.arg == "default"), None)
        if given is None:
            found.append(Origin("config", place.module, place.node, chain, exact=False))
            continue
        hops = (*chain, Hop(place.module, given))
        for origin in walk.trace(place.at(given, path[1:]), hops) or []:
            # The command line may say otherwise: whoever edits the default must compare it with the value seen.
            found.append(
                Origin("config", origin.module, origin.node, origin.hops, origin.exact, origin.value)
            )
    return found or None


def _declarations(walk: Walk, value: Value, name: str) -> list[Value]:
    calls = call_index(walk.project).by_name.get("add_argument", [])
    found = [v for v in calls if isinstance(v.node, ast.Call) and destination(v.node) == name]
    near = [v for v in found if v.module is value.module]
    return near or found


def destination(call: ast.Call) -> str:
    """The attribute under which argparse stores an option."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    names = [str(a.value) for a in call.args if isinstance(a, ast.Constant)]
    long = next((n for n in names if n.startswith("--")), names[0] if names else "")
    return long.lstrip("-").replace("-", "_")
