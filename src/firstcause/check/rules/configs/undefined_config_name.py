"""A name that the code asks its config for and that no config file has.

Why: Hydra and OmegaConf raise an error for a key that is not there, and a plain mapping raises KeyError, often late.
Refuted by: the same name set anywhere in the code, tested for, or given on a launch line; files that are not found.
Holds for: hydra, omegaconf, yaml, json and toml, all versions.
"""

from __future__ import annotations

import ast
import difflib
import itertools
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.config_reads import METHODS_OF_MAPPINGS, Read, chains, config_reads
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.launch import launches

SLUG = "undefined-config-name"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# What reads attributes as names of the config; a plain mapping has none.
WITH_ATTRIBUTES = ("hydra", "omegaconf.OmegaConf.load")


# Calls whose texts are names that are set, or asked for with care.
SETTING = ("hasattr", "setattr", "getattr", "update", "setdefault", "get", "pop", "select", "set_defaults")


def find(code: Code) -> Iterator[Finding]:
    reads, changed = config_reads(code).read, config_reads(code).changed
    if not reads or code.methods_and_calls("ConfigStore", "from_cli"):
        return
    set_names = _set_names(code)
    for read in reads:
        if (
            read.name in set_names
            or any(c.path in changed for c in read.configs)
            or not _may_be_judged(code, read)
        ):
            continue
        followed = new_walk(code.project).origins(Value(read.module, read.node))
        if all(o.node is read.node for o in followed):
            yield _found(read)


def _is_tried(read: Read) -> bool:
    """Whether a read stands in the body of a ``try``."""
    around = [read.node, *read.module.ancestors(read.node)]
    return any(
        isinstance(outer, ast.Try) and inner in outer.body for inner, outer in itertools.pairwise(around)
    )


def _may_be_judged(code: Code, read: Read) -> bool:
    if any(c.lacking for c in code.project.configs) or not isinstance(read.node.ctx, ast.Load):
        return False
    if _is_tried(read):
        return False
    if isinstance(read.node, ast.Attribute):
        readers = {r for c in read.configs for r in c.readers}
        is_method = read.name in METHODS_OF_MAPPINGS or read.name.startswith("_")
        return not is_method and bool(readers) and readers <= set(WITH_ATTRIBUTES)
    return True


def _set_names(code: Code) -> set[str]:
    """Names that are written, deleted, tested for, or given on a launch line."""
    found = {part for x in launches(code.project) for k in x.overrides for part in k.split(".")}
    for module in code.modules:
        for chain in chains(module):
            if not isinstance(chain.ctx, ast.Load):
                key = chain.attr if isinstance(chain, ast.Attribute) else getattr(chain.slice, "value", None)
                found.add(str(key))
        for compared in module.nodes(ast.Compare):
            found |= _texts(compared.left)
        for call in module.nodes(ast.Call):
            if last_name(call.func) in SETTING:
                found |= {t for part in (*call.args, *(k.value for k in call.keywords)) for t in _texts(part)}
                found |= {k.arg for k in call.keywords if k.arg}
    return found


def _texts(node: ast.expr) -> set[str]:
    constants = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return {part for c in constants if isinstance(c, str) for part in c.split(".")}


def _found(read: Read) -> Finding:
    config = read.configs[0]
    mapping = next(o.node for o in read.within if o.module is config)
    here = [str(k.value) for k in getattr(mapping, "keys", ()) if isinstance(k, ast.Constant)]
    near = difflib.get_close_matches(read.name, here, 1, 0.5)
    where = ".".join(config.paths.get(mapping, ()))
    has = f"{config.name} has {', '.join(here[:6]) or 'nothing'} there"
    text = f"{ast.unparse(read.node)} is in no config file: {has}"
    if near:
        text += f"; write {where + '.' if where else ''}{near[0]}, or add {read.name}"
    related = (config.site(mapping),)
    return finding(
        SLUG,
        CATEGORY,
        read.module,
        read.node,
        text,
        got=read.name,
        asked=near[0] if near else "",
        related=related,
    )


_YAML = "optim:\n  lr: 0.001\nepochs: 3\n"
_HYDRA = """
import hydra
import torch

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    return torch.optim.AdamW([], lr=cfg.optim.{name})

main()
"""
_PLAIN = """
import yaml

with open("config.yaml") as file:
    config = yaml.safe_load(file)
{line}
"""
_OBJECT = """
import yaml

class Run:
    def __init__(self, path):
        with open(path) as file:
            self.config = yaml.safe_load(file)

    def train(self):
        return self.config["optim"]["rate"]  # found

Run("config.yaml").train()
"""
BAD = (
    Example(_OBJECT, {"config.yaml": _YAML}),
    Example(
        _HYDRA.format(name="learning_rate").replace("rate)", "rate)  # found"), {"conf/config.yaml": _YAML}
    ),
    Example(_PLAIN.format(line='print(config["optim"]["wd"])  # found'), {"config.yaml": _YAML}),
)
GOOD = (
    Example(_PLAIN.format(line='prepare(config)\nprint(config["optim"]["wd"])'), {"config.yaml": _YAML}),
    Example(_PLAIN.format(line='config[name] = 1\nprint(config["wd"])'), {"config.yaml": _YAML}),
    Example(
        _PLAIN.format(line='if config["optim"].get("wd"):\n    print(config["optim"]["wd"])'),
        {"config.yaml": _YAML},
    ),
    Example(_HYDRA.format(name="lr"), {"conf/config.yaml": _YAML}),
    # A file of the defaults list that is not here may hold it.
    Example(_HYDRA.format(name="wd"), {"conf/config.yaml": "defaults:\n  - optim: a\n" + _YAML}),
    Example(
        _HYDRA.format(name="wd"),
        {
            "conf/config.yaml": "defaults:\n  - optim: a\n  - _self_\n" + _YAML,
            "conf/optim/a.yaml": "wd: 0.1\n",
        },
    ),
    Example(_PLAIN.format(line='print(config["optim"].get("wd", 0))'), {"config.yaml": _YAML}),
    Example(
        _PLAIN.format(line='config["optim"]["wd"] = 0\nprint(config["optim"]["wd"])'), {"config.yaml": _YAML}
    ),
)
