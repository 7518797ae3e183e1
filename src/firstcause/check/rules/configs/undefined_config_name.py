"""A name that the code asks its settings for and that they do not have: a config file, a dataclass, a parser.

Why: a key or a field that is not there raises an error, and often late: where the first checkpoint is written.
Refuted by: the same name set anywhere in the code, tested for, or given on a launch line; files that are not found;
settings that may hold more than is written down.
Holds for: hydra, omegaconf, yaml, json, toml, dataclasses, attrs and argparse, all versions.
"""

from __future__ import annotations

import ast
import difflib
import itertools
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.config_reads import METHODS_OF_MAPPINGS, Read, chains, config_reads
from firstcause.check.rule import Example
from firstcause.check.settings_objects import lacking
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.launch import launches
from firstcause.source.module import Module

SLUG = "undefined-config-name"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# What reads attributes as names of the config; a plain mapping has none.
WITH_ATTRIBUTES = ("hydra", "omegaconf.OmegaConf.load")


# Calls whose texts are names that are set, or asked for with care.
SETTING = ("hasattr", "setattr", "getattr", "update", "setdefault", "get", "pop", "select", "set_defaults")


def find(code: Code) -> Iterator[Finding]:
    yield from _of_objects(code)
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


def _of_objects(code: Code) -> Iterator[Finding]:
    """A field that a class of settings does not have, an option that no parser declares."""
    set_names: set[str] | None = None
    for read in lacking(code):
        name = read.node.attr
        set_names = _set_names(code) if set_names is None else set_names
        if name in set_names or _sets_any(code) or _is_tried(read.module, read.node):
            continue
        near = difflib.get_close_matches(name, read.has, 1, 0.5)
        text = f"{read.owner} has no {name}: it has {', '.join(read.has[:8])}"
        if near:
            text += f"; write {near[0]}, or add {name}"
        yield finding(
            SLUG, CATEGORY, read.module, read.node, text, got=name, asked=near[0] if near else "",
            related=(read.defined,),
        )  # fmt: skip


def _sets_any(code: Code) -> bool:
    """Whether attributes are set by names that only the run knows."""
    return any(
        len(c.node.args) > 1 and not isinstance(c.node.args[1], ast.Constant)
        for c in code.methods_and_calls("setattr", "__setattr__")
    ) or any(
        "__dict__" in m.segment(c.func) or last_name(c.func) == "Namespace" or _updates_vars(c)
        for m in code.modules
        for c in m.nodes(ast.Call)
    )


def _updates_vars(call: ast.Call) -> bool:
    """``vars(args).update(…)``"""
    on = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "update" else None
    return isinstance(on, ast.Call) and last_name(on.func) == "vars"


def _is_tried(module: Module, node: ast.AST) -> bool:
    """Whether a read stands in the body of a ``try``."""
    around = [node, *module.ancestors(node)]
    return any(
        isinstance(outer, ast.Try) and inner in outer.body for inner, outer in itertools.pairwise(around)
    )


def _may_be_judged(code: Code, read: Read) -> bool:
    if any(c.lacking for c in code.project.configs) or not isinstance(read.node.ctx, ast.Load):
        return False
    if _is_tried(read.module, read.node):
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
_CLASS = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Settings:
    lr: float = 1e-3
    weights: str = "out.pt"
    {more}

{use}
"""
_ARGS = """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("-e", "--epochs", type=int, default=3)
{use}
"""
BAD = (
    Example(
        _CLASS.format(
            more="",
            use="def fit(s: Settings = Settings()):\n    print(s.lr)\n    print(s.checkpoint)  # found",
        )
    ),
    Example(
        _CLASS.format(
            more="", use="def fit():\n    s = Settings()\n    print(s.lr, s.learning_rate)  # found"
        )
    ),
    Example(
        _CLASS.format(
            more="",
            use="class Run:\n    def __init__(self, s):\n        self.s = s\n\n    def go(self):\n"
            "        print(self.s.lr, self.s.path)  # found\n\nRun(Settings()).go()",
        )
    ),
    Example(_ARGS.format(use="args = parser.parse_args()\nprint(args.epochs, args.batchsize)  # found")),
    Example(
        _ARGS.format(
            use="def main(args):\n    print(args.epochs, args.lr)  # found\n\nmain(parser.parse_args())"
        )
    ),
    Example(_OBJECT, {"config.yaml": _YAML}),
    Example(
        _HYDRA.format(name="learning_rate").replace("rate)", "rate)  # found"), {"conf/config.yaml": _YAML}
    ),
    Example(_PLAIN.format(line='print(config["optim"]["wd"])  # found'), {"config.yaml": _YAML}),
)
GOOD = (
    Example(
        _CLASS.format(
            more="@property\n    def path(self):\n        return self.weights",
            use="def fit(s: Settings):\n    print(s.lr, s.path, s.__dict__)",
        )
    ),
    Example(
        _CLASS.format(
            more="",
            use="class More(Settings):\n    depth: int = 2\n\ndef fit(s: Settings):\n    print(s.lr, s.depth)",
        )
    ),
    Example(_CLASS.format(more="", use="def fit(s: Settings):\n    print(s.lr, getattr(s, 'depth', 2))")),
    Example(_CLASS.format(more="", use="def fit(s):\n    print(s.lr, s.depth)")),
    Example(_ARGS.format(use="args = parser.parse_args()\nargs.world = 2\nprint(args.epochs, args.world)")),
    Example(
        _ARGS.format(
            use="library.add_options(parser)\nargs = parser.parse_args()\nprint(args.epochs, args.fast)"
        )
    ),
    Example(
        _ARGS.format(
            use="args = parser.parse_args()\nfor k, v in load().items():\n    setattr(args, k, v)\n"
            "print(args.epochs, args.fast)"
        )
    ),
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
