"""What the project's own networks are made with: widths and numbers of layers that their constructors are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.devices import is_model
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.values import value_of
from firstcause.check.makers import call_of
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

PARAMETERS = {
    "hidden_size": ("hidden", "hidden_size", "hidden_dim", "d_model"),
    "num_layers": ("layers", "n_layers", "num_layers"),
}
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
