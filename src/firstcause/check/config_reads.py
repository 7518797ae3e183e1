"""Which parts of its config files a program reads: chains such as ``cfg.optim.lr``, and what is handed on whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstcause.check.code import Call, Code
from firstcause.source.callsites import last_name
from firstcause.source.configs.file import ConfigFile
from firstcause.source.configs.hydra import entry, primary
from firstcause.source.configs.reading import READERS
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.steps import constant_key
from firstcause.source.walk import Origin

Chain = ast.Attribute | ast.Subscript
# Methods of mappings and of OmegaConf's, which are no names of a config.
METHODS_OF_MAPPINGS = frozenset({name for kind in (dict, list) for name in dir(kind)})
# Calls that show or store a config: nothing of it takes effect there.
SHOWN = frozenset({
    "print", "pprint", "info", "debug", "log", "warning", "to_yaml", "init", "save_hyperparameters", "log_hyperparams", "dump",
    "dumps", "save", "log_params", "init_trackers", "type", "isinstance", "len", "str", "repr", "resolve", "set_struct", "vars",
})  # fmt: skip


@dataclass(frozen=True, eq=False)
class Read:
    """A step from a mapping of a config into it: ``node`` is the attribute or subscript, ``name`` what it asks for."""

    module: Module
    node: Chain
    name: str
    within: tuple[Origin, ...]

    @property
    def configs(self) -> list[ConfigFile]:
        return [o.module for o in self.within if isinstance(o.module, ConfigFile)]


@dataclass(eq=False)
class ConfigReads:
    """``read`` are the steps into configs, ``names`` all attributes and literal texts of the code, ``whole`` the names
    of mappings that are handed on, and ``roots_whole`` the configs that are handed on to something unknown."""

    read: list[Read] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    roots_whole: set[str] = field(default_factory=set)


def config_reads(code: Code) -> ConfigReads:
    """The project's reads of its configs, found once."""
    known = code.project.memory.get("config reads")
    if isinstance(known, ConfigReads):
        return known
    found = ConfigReads()
    code.project.memory["config reads"] = found
    if code.project.configured and _has_configs(code):
        for module in code.modules:
            _Reader(code, module, found).read()
    return found


def _has_configs(code: Code) -> bool:
    for call in code.calls(*READERS):
        new_walk(code.project).origins(Value(call.module, call.node))
    for module in code.modules:
        for node in module.nodes(ast.FunctionDef):
            call = entry(code.project, module, node) if node.decorator_list else None
            if call is not None:
                primary(code.project, module, call, call)
    return any(c.readers for c in code.project.configs)


class _Reader:
    def __init__(self, code: Code, module: Module, found: ConfigReads) -> None:
        self.code = code
        self.module = module
        self.found = found
        # What a name stands for in a function is asked once.
        self.known: dict[tuple[ast.AST | None, str], tuple[Origin, ...]] = {}

    def read(self) -> None:
        module, found = self.module, self.found
        for node in module.nodes(ast.Constant):
            if isinstance(node.value, str):
                found.names |= {node.value, *node.value.split(".")}
        for chain in module.nodes(ast.Attribute, ast.Subscript):
            if isinstance(chain, ast.Attribute):
                found.names.add(chain.attr)
            if not isinstance(chain.ctx, ast.Load):
                continue
            name = _name(chain)
            if name is not None and self._is_end(chain):
                found.whole.add(name)
            within = self._mappings(chain.value)
            if within and name is not None:
                found.read.append(Read(module, chain, name, within))
            elif within and not isinstance(chain, ast.Attribute):
                # A key that only the run knows: any of them may be read.
                found.roots_whole |= {o.module.path for o in within}
        for plain in module.nodes(ast.Name):
            if isinstance(plain.ctx, ast.Load) and self._is_handed_on(plain):
                found.roots_whole |= {o.module.path for o in self._mappings(plain)}

    def _is_end(self, chain: Chain) -> bool:
        parent = self.module.parents.get(chain)
        return not (isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is chain)

    def _mappings(self, node: ast.expr) -> tuple[Origin, ...]:
        """The mappings of config files that an expression is; empty where it may be anything else."""
        base = node
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        if not isinstance(base, ast.Name):
            return ()
        if base is not node and base.id != "self" and not self._mappings(base):
            return ()
        key = (self.module.function(node), ast.unparse(node))
        if key not in self.known:
            origins = tuple(new_walk(self.code.project).origins(Value(self.module, node)))
            is_config = bool(origins) and all(
                isinstance(o.module, ConfigFile) and isinstance(o.node, ast.Dict) for o in origins
            )
            self.known[key] = origins if is_config else ()
        return self.known[key]

    def _is_handed_on(self, node: ast.Name) -> bool:
        """Whether a name goes where its reads cannot be followed: into a library's call, a loop, ``**``."""
        parent = self.module.parents.get(node)
        if isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is node:
            return self._is_used_as_mapping(parent)
        call = self.module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        if isinstance(parent, ast.keyword) and parent.arg is None:
            return True
        if isinstance(call, ast.Call) and node is not call.func:
            own = self.code.callees_of(Call(self.code, self.module, call, ""))
            return not own and last_name(call.func) not in SHOWN
        return not isinstance(
            parent, (ast.Assign, ast.Return, ast.Compare, ast.Expr, ast.FormattedValue, ast.Call)
        )

    def _is_used_as_mapping(self, parent: ast.AST) -> bool:
        called = self.module.parents.get(parent)
        is_call = isinstance(called, ast.Call) and called.func is parent
        if not is_call or not isinstance(parent, ast.Attribute):
            return False
        is_named = isinstance(called, ast.Call) and called.args and isinstance(called.args[0], ast.Constant)
        return not (parent.attr in ("get", "pop", "setdefault") and is_named)


def _name(chain: Chain) -> str | None:
    if isinstance(chain, ast.Attribute):
        return chain.attr
    key = constant_key(chain.slice)
    return key if isinstance(key, str) else None


def unread(code: Code, config: ConfigFile) -> Iterator[tuple[tuple[str, ...], ast.expr]]:
    """The entries of a config that no code can be seen to read: by name, or as a part of what is handed on whole."""
    reads = config_reads(code)
    if config.path in reads.roots_whole or not any(config in r.configs for r in reads.read):
        return
    used_inside = {part for e in config.entries.values() for part in _interpolated(e.value)}
    for path, node in config.nodes_by_path.items():
        if isinstance(node, ast.Dict) or not path or path[0] in ("defaults", "hydra"):
            continue
        is_read = path[-1] in reads.names or path[-1] in used_inside or path[-1].startswith("_")
        if not is_read and not reads.whole & set(path[:-1]):
            yield path, node


def _interpolated(value: object) -> list[str]:
    text = str(value)
    return [w for part in text.split("${")[1:] for w in part.partition("}")[0].split(".")]
