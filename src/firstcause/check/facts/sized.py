"""What the project's own networks are made with: widths and numbers of layers that their constructors are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.constants import Constant
from firstcause.check.devices import is_model
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.values import value_of
from firstcause.check.makers import call_of
from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

PARAMETERS = {
    "hidden_size": ("hidden", "hidden_size", "hidden_dim", "d_model"),
    "num_layers": ("layers", "n_layers", "num_layers"),
}
LAYERS = ("Linear", "LSTM", "GRU", "Conv1d", "LazyLinear")
CONFIGURED = {
    "hidden_size": "hidden_size", "n_embd": "hidden_size", "d_model": "hidden_size",
    "num_hidden_layers": "num_layers", "n_layer": "num_layers", "num_layers": "num_layers",
}  # fmt: skip


def sized_facts(code: Code) -> Iterator[Fact]:
    """Facts of hidden_size and num_layers, where they are asked for; sure where the project has one network alone."""
    wanted = {key: names for key, names in PARAMETERS.items() if code.asked(key)}
    if not wanted:
        return
    made = [
        (call_of(code, module, node), arguments)
        for module in code.modules
        for node in module.nodes(ast.Call)
        if (arguments := _constructor(code, module, node)) is not None and is_model(code, module, node)
    ]
    yield from (f for f in _of_configurations(code) if f.key in wanted)
    if not made:
        yield from _of_functions(code, wanted)
    for key, names in wanted.items():
        given = [(c, name, position) for c, a in made for position, name in enumerate(a) if name in names]
        found = [(name, value_of(c, name, position)) for c, name, position in given]
        # Several may be several parts, of which one is meant.
        sure = len(found) == 1 and len(code.subclasses_of("torch.nn.Module")) == 1
        for name, value in found:
            if value is not None and isinstance(value.value, int) and not isinstance(value.value, bool):
                how = f"the network's {name}="
                yield Fact(
                    key, value.value, value.site, how, name, sure and not value.overridable, confirms=not sure
                )


def _of_functions(code: Code, wanted: dict[str, tuple[str, ...]]) -> Iterator[Fact]:
    """The sizes that functions of the project's own are called with which put layers together: ``q_network(8, 4, hidden)``."""
    given: dict[str, list[tuple[str, str, Constant]]] = {}
    elsewhere = any(
        last_name(node.func) in LAYERS and not _stacks(module.function(node))
        for module in code.modules
        for node in module.nodes(ast.Call)
    )
    for module in code.modules:
        for node in module.nodes(ast.Call):
            target = resolve(code.project, module, node.func)
            function = target.node if isinstance(target, Defined) else None
            if not isinstance(function, ast.FunctionDef) or not _stacks(function):
                continue
            parameters = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
            for position, name in enumerate(parameters):
                key = next((k for k, names in wanted.items() if name in names), "")
                width = key == "hidden_size" and not _is_width(function, name)
                value = value_of(call_of(code, module, node), name, position) if key and not width else None
                if value is not None and isinstance(value.value, int) and not isinstance(value.value, bool):
                    given.setdefault(key, []).append((function.name, name, value))
    for key, found in given.items():
        # A second network of another size, or another maker: which is meant is not said.
        # So is which layers are counted: a "three-layer" network may be made with two hidden ones.
        alone = not elsewhere and len({(f, v.value) for f, _, v in found}) == 1
        sure = alone and key != "num_layers"
        for function_name, name, value in found if not alone else found[:1]:
            how = f"{function_name}({name}=)"
            yield Fact(
                key, value.value, value.site, how, name, sure and not value.overridable, confirms=not sure
            )


def _stacks(function: ast.AST | None) -> bool:
    """Whether it is a function that returns a stack of layers."""
    return isinstance(function, ast.FunctionDef) and any(
        isinstance(node, ast.Return)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) in ("Sequential", "ModuleList")
        for node in ast.walk(function)
    )


def _is_width(function: ast.FunctionDef, name: str) -> bool:
    """Whether a parameter is how wide a layer is: an argument of ``nn.Linear`` and its like."""
    return any(
        isinstance(node, ast.Call)
        and last_name(node.func) in LAYERS
        and any(isinstance(a, ast.Name) and a.id == name for a in node.args)
        for node in ast.walk(function)
    )


def _of_configurations(code: Code) -> Iterator[Fact]:
    """The sizes that a configuration of transformers is made with: ``LlamaConfig(hidden_size=768)``."""
    for call in code.calls_within("transformers."):
        last = call.name.rpartition(".")[2]
        for argument, key in CONFIGURED.items() if last.endswith("Config") else ():
            value = value_of(call, argument)
            if value is not None and isinstance(value.value, int):
                yield Fact(
                    key, value.value, value.site, f"{last}({argument}=)", argument, not value.overridable
                )


def _constructor(code: Code, module: Module, node: ast.Call) -> list[str] | None:
    """The names of what a class of the project's own is made with, in order; None where the call makes none."""
    target = resolve(code.project, module, node.func)
    cls = target.node if isinstance(target, Defined) else None
    if not isinstance(cls, ast.ClassDef):
        return None
    init = next((n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    return [a.arg for a in (*init.args.posonlyargs, *init.args.args)][1:] if init is not None else None
