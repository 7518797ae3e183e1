"""What a library does where an argument is left out and the brief asks for something: its default is what is set."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.table import Default, defaults
from firstcause.check.steps import OPTIMIZERS
from firstcause.check.trainers import ARGUMENTS, CONFIGS, OF_TRL, TRAINERS
from firstcause.schema.instruction import Instruction


def default_facts(code: Code, known: Sequence[Fact]) -> Iterator[Fact]:
    """A fact for each asked key that nothing sets, where the object that surely trains leaves its argument out.

    ``known`` are the facts that the code states.
    """
    stated = {f.key for f in known}
    for default in defaults():
        asked = code.asked(default.key)
        if default.key in stated or not asked or any(_leaves_open(i) for i in asked):
            continue
        calls = code.calls(*default.calls)
        if not calls or not all(_leaves_out(c, default) for c in calls) or not _trains(code, default, calls):
            continue
        if _is_mentioned(code, default):
            continue
        first = calls[0]
        how = f"{first.name.rpartition('.')[2]} without {default.argument}, whose default it is"
        stated.add(default.key)
        yield Fact(default.key, default.value, first.site, how, default.argument, explicit=False)


def _leaves_open(instruction: Instruction) -> bool:
    """Whether a default contradicts nothing: what only follows, "at the end", and an Adam that may be any of them."""
    return instruction.derived or instruction.value in ("end", "adam")


def _leaves_out(call: Call, default: Default) -> bool:
    names = (default.argument, *default.unless)
    given = call.node.args
    if any(isinstance(a, ast.Starred) for a in given) or any(call.may_have(n) for n in names):
        return False
    return default.position is None or len(given) <= default.position


def _trains(code: Code, default: Default, calls: Sequence[Call]) -> bool:
    """Whether the calls are of the one object that trains: the loop's only optimizer, the trainer's only settings."""
    name = calls[0].name
    if name.startswith("torch.optim."):
        every = [c for n in sorted(OPTIMIZERS) for c in code.calls(f"torch.optim.{n}")]
        # Groups of parameters may have settings of their own.
        return len(every) == 1 and _takes_parameters(every[0]) and "backward" in _verbs(code)
    if name in (*ARGUMENTS, *CONFIGS):
        trainers = code.calls(*TRAINERS, *OF_TRL)
        own = code.subclasses_of(*TRAINERS, *(f"trl.{n.rpartition('.')[2]}" for n in OF_TRL))
        plain = len(calls) == 1 and len(trainers) == 1 and not own
        return plain and not trainers[0].may_have("optimizers")
    if default.several:
        # A loss: of a loop of the program's own, and not of a figure that is taken beside a library's trainer.
        return "backward" in _verbs(code) and not code.calls(*TRAINERS, *OF_TRL)
    return len(calls) == 1


def _verbs(code: Code) -> set[str]:
    """What is called in the program; a Lightning trainer's ``fit`` does the backward itself."""
    names = code.called_names()
    return names | {"backward"} if "fit" in names and code.imports("lightning") else names


def _takes_parameters(call: Call) -> bool:
    first = call.argument("params", 0)
    origins = code_origins(call, first.node) if first is not None else []
    return bool(origins) and all(
        isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "parameters" for n in origins
    )


def code_origins(call: Call, node: ast.expr) -> list[ast.AST]:
    """The expressions that an argument comes from."""
    return [o.node for o in call.code.origins(call.module, node)]


def _is_mentioned(code: Code, default: Default) -> bool:
    """Whether the code names the thing anywhere: a class of its own, an attribute that is set afterwards."""
    words = default.words or (default.argument,)
    return any(word in name for name in _names(code) for word in words)


def _names(code: Code) -> set[str]:
    """Every name that the code writes, in lower case, and every text that could be the key of a setting."""
    known: set[str] | None = code.project.memory.get("written names")
    if known is None:
        known = set()
        for module in code.modules:
            known |= {n.attr for n in module.nodes(ast.Attribute)} | {n.id for n in module.nodes(ast.Name)}
            known |= {n.arg for n in module.nodes(ast.arg)}
            known |= {n.name for n in module.nodes(ast.ClassDef)} | {
                n.name for n in module.nodes(ast.FunctionDef)
            }
            known |= {k.arg for c in module.nodes(ast.Call) for k in c.keywords if k.arg}
            known |= {
                n.value
                for n in module.nodes(ast.Constant)
                if isinstance(n.value, str) and len(n.value) < 60 and " " not in n.value
            }
        known = {n.lower().replace("-", "_") for n in known}
        code.project.memory["written names"] = known
    return known
