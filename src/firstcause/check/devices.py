"""What a program moves to an accelerator: models by the call that makes them, and whether anything else is moved."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from firstcause.check.code import Call, Code
from firstcause.check.makers import call_of, first_maker
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

# Whatever places tensors by itself.
PLACERS = ("accelerate", "deepspeed", "lightning", "pytorch_lightning", "fastai", "ignite", "composer", "ray")
PLACING = frozenset(
    {"set_default_device", "set_default_tensor_type", "prepare", "DataParallel", "set_device"}
)


@dataclass(eq=False)
class Moves:
    """The models that are moved to an accelerator, the moves of other things, and whether any move is not understood.

    ``placed`` says that something moves tensors by itself.
    """

    models: dict[ast.AST, Call] = field(default_factory=dict)
    others: list[Call] = field(default_factory=list)
    unknown: bool = False
    placed: bool = False


def moves(code: Code) -> Moves:
    """Every ``.to(device)`` and ``.cuda()`` of the program."""
    known: Moves | None = code.project.memory.get("moves")
    if known is None:
        known = code.project.memory["moves"] = _moves(code)
    return known


def _moves(code: Code) -> Moves:
    found = Moves()
    names = code.called_names()
    if names & PLACING or any(code.imports(p) for p in PLACERS):
        found.unknown = found.placed = True
    if any(
        k.arg in ("device", "device_map") and not _on_cpu(k.value)
        for m in code.modules
        for k in m.nodes(ast.keyword)
    ):
        found.unknown = True
    for call in code.methods("to", "cuda"):
        where = accelerator(call)
        if where is None and call.name == ".to" and _may_be_device(call):
            found.unknown = True
        if not where or call.receiver is None:
            continue
        made = first_maker(code, call.module, call.receiver)
        if made is not None and is_model(code, made.module, made.node):
            found.models[made.node] = call
        else:
            found.others.append(call)
    return found


def accelerator(call: Call) -> bool | None:
    """Whether a call of ``to`` or ``cuda`` moves to an accelerator; None where the code does not say."""
    if call.name == ".cuda":
        return True
    given = call.argument("device", 0)
    if given is None:
        return False if call.node.args or call.node.keywords else None
    return _any(_of(call.code, o.module, o.node) for o in call.code.origins(given.module, given.node))


def _of(code: Code, module: Module, node: ast.AST, hops: int = 3) -> bool | None:
    if isinstance(node, ast.Constant):
        return node.value.startswith(("cuda", "mps")) if isinstance(node.value, str) else None
    if isinstance(node, ast.IfExp):
        return _any(_of(code, module, side, hops) for side in (node.body, node.orelse))
    if (
        isinstance(node, ast.Call)
        and hops
        and call_of(code, module, node).name == "torch.device"
        and node.args
    ):
        return _any(_of(code, o.module, o.node, hops - 1) for o in code.origins(module, node.args[0]))
    if isinstance(node, ast.Attribute) and node.attr in (
        "float32",
        "float16",
        "bfloat16",
        "float64",
        "long",
        "int64",
        "dtype",
    ):
        return False
    return None


def _any(found: object) -> bool | None:
    known = list(found)  # type: ignore[call-overload]
    return True if True in known else None if None in known or not known else False


def _may_be_device(call: Call) -> bool:
    first = call.node.args[0] if call.node.args else None
    return not (isinstance(first, ast.Attribute) and first.attr in ("dtype",))


def _on_cpu(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (None, "cpu", -1)


def is_model(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether a call makes a model: a class of the project's from torch.nn.Module, or a library's."""
    if not isinstance(node, ast.Call):
        return False
    target = resolve(code.project, module, node.func)
    if isinstance(target, Defined):
        return target.node in _model_classes(code)
    name = call_of(code, module, node).name
    return (
        name.startswith(("torch.nn.", "torchvision.models.")) and not name.startswith("torch.nn.functional")
    ) or (name.endswith("from_pretrained") and name.startswith("transformers.") and "Tokenizer" not in name)


def _model_classes(code: Code) -> set[ast.AST]:
    known: set[ast.AST] | None = code.project.memory.get("model classes")
    if known is None:
        known = {d.node for d in code.subclasses_of("torch.nn.Module")}
        code.project.memory["model classes"] = known
    return known
