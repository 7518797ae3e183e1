"""Which parts of its config files a program reads: chains such as ``cfg.optim.lr``, and what is handed on whole."""

from __future__ import annotations

import ast
import itertools
import os
import re
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
MAX_FOLDERS = 100
MAX_HELD = 400
MAX_OTHERS = 200
MAX_OTHER_BYTES = 300_000
_NAMED = re.compile(r"\.([A-Za-z_]\w*)|[\"']([A-Za-z_]\w*)\\?[\"']")
# Methods of mappings and of OmegaConf's, which are no names of a config.
METHODS_OF_MAPPINGS = frozenset({name for kind in (dict, list) for name in dir(kind)})
# Methods that put into a mapping what only the run knows.
CHANGING = ("update", "merge_with", "setdefault", "__setitem__")
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
    of mappings that are handed on, ``roots_whole`` the configs that are handed on to something unknown, ``changed``
    those into which something may be put, and ``held`` the attributes of objects that hold a mapping of a
    config."""

    read: list[Read] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    roots_whole: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)


def config_reads(code: Code) -> ConfigReads:
    """The project's reads of its configs, found once."""
    known = code.project.memory.get("config reads")
    if isinstance(known, ConfigReads):
        return known
    found = ConfigReads()
    code.project.memory["config reads"] = found
    if code.project.configured and _has_configs(code):
        readers = [_Reader(code, module, found) for module in code.modules]
        for reader in readers:
            reader.hold()
        for reader in readers:
            reader.read()
    return found


def chains(module: Module) -> Iterator[Chain]:
    """Every attribute and every subscript of a file."""
    yield from module.nodes(ast.Attribute)
    yield from module.nodes(ast.Subscript)


def _has_configs(code: Code) -> bool:
    for call in code.calls(*READERS):
        new_walk(code.project).origins(Value(call.module, call.node))
    for module in code.modules:
        for node in module.nodes(ast.FunctionDef):
            start = entry(code.project, module, node) if node.decorator_list else None
            if start is not None:
                primary(code.project, module, start, start)
    return any(c.readers for c in code.project.configs)


class _Reader:
    def __init__(self, code: Code, module: Module, found: ConfigReads) -> None:
        self.code = code
        self.module = module
        self.found = found
        # What a name stands for in a function is asked once.
        self.known: dict[tuple[ast.AST | None, str], tuple[Origin, ...]] = {}

    def hold(self) -> None:
        """Find the attributes to which mappings are assigned: ``self.config = yaml.safe_load(file)``."""
        for assign in itertools.islice(self.module.nodes(ast.Assign), MAX_HELD):
            names = [t.attr for t in assign.targets if isinstance(t, ast.Attribute)]
            if names and (
                self._is_mapping(assign.value)
                if isinstance(assign.value, ast.Call)
                else self._mappings(assign.value)
            ):
                self.found.held |= set(names)
                # What was found before this attribute was known may be more now.
                self.known.clear()

    def read(self) -> None:
        module, found = self.module, self.found
        for node in module.nodes(ast.Constant):
            if isinstance(node.value, str):
                found.names |= {node.value, *node.value.split(".")}
        for chain in chains(module):
            if isinstance(chain, ast.Attribute):
                found.names.add(chain.attr)
            name = _name(chain)
            if not isinstance(chain.ctx, ast.Load):
                if name is None:
                    found.changed |= {o.module.path for o in self._mappings(chain.value)}
                continue
            if name is not None and self._is_end(chain):
                found.whole.add(name)
            within = self._mappings(chain.value)
            if within and name in CHANGING:
                found.changed |= {o.module.path for o in within}
            if within and name is not None:
                found.read.append(Read(module, chain, name, within))
            elif within and not isinstance(chain, ast.Attribute):
                # A key that only the run knows: any of them may be read.
                found.roots_whole |= {o.module.path for o in within}
        for plain in module.nodes(ast.Name):
            if isinstance(plain.ctx, ast.Load) and self._is_handed_on(plain):
                paths = {o.module.path for o in self._mappings(plain)}
                found.roots_whole |= paths
                # Who is given the mapping itself may put something in.
                if isinstance(module.parents.get(plain), ast.Call):
                    found.changed |= paths

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
        is_held = any(isinstance(n, ast.Attribute) and n.attr in self.found.held for n in ast.walk(node))
        if base is not node and not is_held and not self._mappings(base):
            return ()
        key = (self.module.function(node), ast.unparse(node))
        if key not in self.known:
            self.known[key] = self._is_mapping(node)
        return self.known[key]

    def _is_mapping(self, node: ast.expr) -> tuple[Origin, ...]:
        origins = tuple(new_walk(self.code.project).origins(Value(self.module, node)))
        is_config = all(isinstance(o.module, ConfigFile) and isinstance(o.node, ast.Dict) for o in origins)
        return origins if is_config else ()

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


def unread(code: Code, config: ConfigFile) -> list[tuple[tuple[str, ...], ast.expr]]:
    """The entries of a config that no code can be seen to read: by name, or as a part of what is handed on whole."""
    reads = config_reads(code)
    if config.path in reads.roots_whole or not any(config in r.configs for r in reads.read):
        return []
    # In the text: where the values are known they stand in the place of what names them.
    used_inside = {p for c in code.project.configs for p in _interpolated(c.text)}
    found = []
    for path, node in config.nodes_by_path.items():
        if isinstance(node, ast.Dict) or not path or path[0] in ("defaults", "hydra"):
            continue
        is_read = path[-1] in reads.names or path[-1] in used_inside or path[-1].startswith("_")
        if not is_read and not reads.whole & set(path[:-1]):
            found.append((path, node))
    others = _names_elsewhere(code, config) if found else set()
    return [(path, node) for path, node in found if not others & set(path)]


def _names_elsewhere(code: Code, config: ConfigFile) -> set[str]:
    """Attributes and texts of the other programs beneath the root that name the config: it is theirs too."""
    memory = f"names elsewhere {config.path}"
    known: set[str] | None = code.project.memory.get(memory)
    if known is not None:
        return known
    stem = os.path.splitext(os.path.basename(config.path))[0]
    own = {m.path for m in code.modules}
    found: set[str] = set()
    paths = (
        os.path.join(d, n)
        for d, _, names in itertools.islice(os.walk(code.project.root), MAX_FOLDERS)
        for n in names
    )
    others = (p for p in paths if p.endswith((".py", ".ipynb")) and p not in own)
    for path in itertools.islice(others, MAX_OTHERS):
        if os.path.isfile(path) and os.path.getsize(path) < MAX_OTHER_BYTES:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            # As it is written: an attribute behind its dot, a text or a key in quotes.
            found |= {a or b for a, b in _NAMED.findall(text)} if stem in text else set()
    code.project.memory[memory] = found
    return found


def _interpolated(text: str) -> list[str]:
    return [w for part in text.split("${")[1:] for w in part.partition("}")[0].split(".")]
