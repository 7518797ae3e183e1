"""Configurations of engines and launchers that the code uses: DeepSpeed's JSON, accelerate's YAML, launch lines."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from firstcause.catalog.toml import check_table
from firstcause.check.code import Code
from firstcause.check.constants import Constant, constant
from firstcause.check.facts.table import families
from firstcause.schema.site import Site
from firstcause.source.configs.file import ConfigFile
from firstcause.source.configs.opened import find
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.launch import Launch, launches
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.steps import Step

TRAINER = ("training arguments", "trl configuration")
MAX_YAML_FILES = 30


@dataclass(frozen=True, eq=False)
class Configuration:
    """A mapping in a file or in the code, asked by the names on the way to an entry."""

    project: Project
    value: Value

    def entry(self, *names: str) -> Constant | None:
        """An entry; None where it is not there, is null, or is left to the library with "auto"."""
        steps = tuple(Step("item", n) for n in names)
        found = constant(self.project, replace(self.value, path=(*self.value.path, *steps)))
        return found if found is not None and found.value is not None and found.value != "auto" else None

    def item(self, name: str) -> Site | None:
        """Where an entry stands, whatever its value is; None where it is not there."""
        for origin in new_walk(self.project).origins(self.value):
            keys = origin.node.keys if isinstance(origin.node, ast.Dict) else ()
            for key in keys:
                if isinstance(key, ast.Constant) and key.value == name:
                    return origin.module.site(key)
            for keyword in origin.node.keywords if isinstance(origin.node, ast.Call) else ():
                if (
                    keyword.arg == name
                    and isinstance(origin.node, ast.Call)
                    and getattr(origin.node.func, "id", "") == "dict"
                ):
                    return origin.module.site(keyword.value)
        inside = replace(self.value, path=(*self.value.path, Step("item", name)))
        merged = [o for o in new_walk(self.project).origins(inside) if o.kind != "unknown" and o.exact]
        return merged[0].site if merged else None

    def number(self, *names: str) -> Constant | None:
        """An entry that is a whole number."""
        found = self.entry(*names)
        is_number = found is not None and isinstance(found.value, int) and not isinstance(found.value, bool)
        return found if is_number else None

    def mappings(self) -> list[Configuration]:
        """Its entries that are mappings themselves."""
        found = {}
        for origin in new_walk(self.project).origins(self.value):
            if isinstance(origin.node, ast.Dict):
                for key, item in zip(origin.node.keys, origin.node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(item, ast.Dict):
                        path = (*self.value.path, Step("item", str(key.value)))
                        found[str(key.value)] = Configuration(self.project, replace(self.value, path=path))
        return list(found.values())

    def enabled(self, name: str) -> Constant | None:
        """The entry ``enabled`` of a section, where it is true."""
        found = self.entry(name, "enabled")
        return found if found is not None and found.value is True else None


def deepspeed_configurations(code: Code) -> list[Configuration]:
    """The DeepSpeed configurations that the code or a launch names, each once."""
    return _kept(code, "deepspeed", _deepspeed)


def accelerate_configurations(code: Code) -> list[Configuration]:
    """The accelerate configurations that a launch names, or the only one in the project where no launch names one."""
    return _kept(code, "accelerate", _accelerate)


def _kept(code: Code, kind: str, make: Any) -> list[Configuration]:
    known: list[Configuration] | None = code.project.memory.get(f"configurations {kind}")
    if known is None:
        unique: dict[tuple[str, int], Configuration] = {}
        for one in make(code):
            unique.setdefault((one.value.module.path, id(one.value.node)), one)
        known = code.project.memory[f"configurations {kind}"] = list(unique.values())
    return known


def _deepspeed(code: Code) -> Iterator[Configuration]:
    trainers = [c for f in families() if f.name in TRAINER for c in f.calls]
    given = [c.argument("deepspeed") for c in code.calls(*trainers)]
    for call in code.calls("deepspeed.initialize"):
        given += [call.argument("config"), call.argument("config_params")]
    given += [c.argument("hf_ds_config") for c in code.methods_and_calls("DeepSpeedPlugin")]
    given += [c.argument("config") for c in code.methods_and_calls("DeepSpeedStrategy")]
    for value in given:
        if value is not None:
            yield from named_configurations(code.project, value)
    for launch in launches(code.project):
        for option in (
            *launch.options.get("deepspeed", ()),
            *launch.options.get("deepspeed_config", ()),
            *launch.launcher_options.get("deepspeed_config_file", ()),
        ):
            yield from _file(code.project, launch.file, option)
    for one in accelerate_configurations(code):
        path = one.entry("deepspeed_config", "deepspeed_config_file")
        if path is not None:
            yield from _file(code.project, one.value.module, ast.Constant(path.value))


def named_configurations(project: Project, value: Value) -> Iterator[Configuration]:
    """The configuration that an argument is, or whose path it is."""
    for origin in new_walk(project).origins(value):
        if isinstance(origin.node, ast.Dict) and origin.value is not None:
            yield Configuration(project, origin.value)
        elif isinstance(origin.node, ast.Constant):
            yield from _file(project, value.module, origin.node)


def _file(project: Project, module: Module, node: ast.expr) -> Iterator[Configuration]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        path = find(new_walk(project), module, node.value)
        config = project.config(path) if path else None
        if config is not None:
            yield Configuration(project, Value(config, config.root))


def _accelerate(code: Code) -> Iterator[Configuration]:
    named = [(x, o) for x in launches(code.project) for o in x.launcher_options.get("config_file", ())]
    for launch, option in named:
        yield from _file(code.project, launch.file, option)
    if not named and (code.imports("accelerate") or code.imports("transformers")):
        found = list(_accelerate_files(code.project))
        # Of several, nobody says which one is used.
        if len(found) == 1:
            yield Configuration(code.project, Value(found[0], found[0].root))


def _accelerate_files(project: Project) -> Iterator[ConfigFile]:
    """YAML files beside the code that ``accelerate config`` has written."""
    folders = dict.fromkeys([project.root, *(os.path.dirname(f) for f in project.files)])
    names = [
        os.path.join(d, n) for d in folders for n in sorted(os.listdir(d)) if n.endswith((".yaml", ".yml"))
    ]
    for path in names[:MAX_YAML_FILES]:
        if not os.path.isfile(path) or os.path.getsize(path) > 20_000:
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            is_one = "compute_environment:" in file.read()
        config = project.config(path) if is_one else None
        if config is not None:
            yield config


def processes(launch: Launch) -> tuple[int, ast.expr] | None:
    """How many processes a launch starts, and where it says so; None where it does not, or not surely."""
    names = check_table("configs")["launchers"].get(launch.launcher)
    if names is None:
        return None
    each, nodes = (launch.launcher_options.get(n, []) for n in names)
    count = _whole(each)
    times = _whole(nodes) if nodes else 1
    return None if count is None or times is None else (count * times, each[0])


def _whole(values: list[ast.expr]) -> int | None:
    node = values[0] if len(values) == 1 else None
    is_whole = isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value is not True
    return node.value if is_whole and isinstance(node, ast.Constant) else None  # type: ignore[return-value]


def world(code: Code) -> int | None:
    """How many devices train: by the launches, else as the user says; None where that is not known or not one number."""
    counts = {p[0] for x in launches(code.project) if (p := processes(x)) is not None}
    counts |= {
        c.value
        for one in accelerate_configurations(code)
        if (c := one.number("num_processes")) is not None and not counts
    }
    if not counts:
        counts = {i.value for i in code.asked("num_gpus") if i.relation == "eq" and isinstance(i.value, int)}
    return counts.pop() if len(counts) == 1 else None
