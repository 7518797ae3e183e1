"""Labels that a collator of the program's own fills up with a token instead of -100, for a loss that transformers takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from firstcause.check.code import Code
from firstcause.check.makers import call_of
from firstcause.check.trainers import trainer_runs
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SAME = frozenset(
    {
        "clone",
        "contiguous",
        "long",
        "to",
        "detach",
        "copy",
        "int",
        "tensor",
        "LongTensor",
        "as_tensor",
        "stack",
    }
)
PADS = {"torch.nn.utils.rnn.pad_sequence": "padding_value", "torch.nn.functional.pad": "value"}
# A loss of the program's own may leave padding out by other means than the labels.
OWN_LOSSES = frozenset({"CrossEntropyLoss", "cross_entropy", "nll_loss", "NLLLoss", "CTCLoss", "ctc_loss"})
PAD_ID = re.compile(r"(?<!label_)pad(_token)?_?(id|idx|index)$|^pad$", re.IGNORECASE)


def padded_labels(code: Code, labels: Iterable[tuple[Module, ast.expr]]) -> Iterator[tuple[Module, ast.AST]]:
    """The call or sum that pads each of the labels with a token."""
    if not loss_of_transformers(code):
        return
    for module, value in labels:
        found = _padding(code, module, value, frozenset())
        if found is not None:
            yield module, found


def loss_of_transformers(code: Code) -> bool:
    """Whether the model's own loss is taken, by a trainer or as ``outputs.loss``, and no other."""
    if not code.imports("transformers") or code.called_names() & OWN_LOSSES:
        return False
    own = {f.name for m in code.modules for f in m.nodes(ast.FunctionDef)} & {"compute_loss", "loss_fn"}
    given = any(run.call.may_have("compute_loss_func") for run in trainer_runs(code))
    reads = any(n.attr == "loss" for m in code.modules for n in m.nodes(ast.Attribute))
    return not own and not given and (bool(trainer_runs(code)) or reads)


def _padding(code: Code, module: Module, node: ast.expr, seen: frozenset[str]) -> ast.AST | None:
    """What pads a value, where all that it comes from within its function is padded with a token."""
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and node.slice.value == "input_ids":
            return _of_tokenizer(code, module, node.value, seen)
        return _padding(code, module, node.value, seen) if _is_cut(node.slice) else None
    if isinstance(node, ast.Attribute):
        return _of_tokenizer(code, module, node.value, seen) if node.attr == "input_ids" else None
    if isinstance(node, ast.Call):
        return _of_call(code, module, node, seen)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _of_items(code, module, node.elt)
    if not isinstance(node, ast.Name) or node.id in seen:
        return None
    given = _assigned(module, node)
    found = [_padding(code, module, v, seen | {node.id}) for v in given if not _is_part_of(v, node.id)]
    return found[0] if found and None not in found else None


def _of_tokenizer(code: Code, module: Module, node: ast.expr, seen: frozenset[str]) -> ast.AST | None:
    """``tokenizer.pad(…)``, and a name for what it gives."""
    if isinstance(node, ast.Call):
        return node if isinstance(node.func, ast.Attribute) and node.func.attr == "pad" else None
    if not isinstance(node, ast.Name) or node.id in seen:
        return None
    found = [_of_tokenizer(code, module, v, seen | {node.id}) for v in _assigned(module, node)]
    return found[0] if found and None not in found else None


def _of_call(code: Code, module: Module, node: ast.Call, seen: frozenset[str]) -> ast.AST | None:
    name = call_of(code, module, node).name
    if name in PADS:
        value = next((k.value for k in node.keywords if k.arg == PADS[name]), None)
        if value is None and any(k.arg is None for k in node.keywords):
            return None
        at = 2 if name.endswith("pad_sequence") else 3
        value = value or (node.args[at] if len(node.args) > at else None)
        return node if value is None or is_token(code, module, value) else None
    if last_name(node.func) not in SAME:
        return None
    inner = node.func.value if isinstance(node.func, ast.Attribute) and name.startswith(".") else None
    inner = inner if inner is not None else node.args[0] if node.args else None
    return _padding(code, module, inner, seen) if inner is not None else None


def _of_items(code: Code, module: Module, item: ast.expr) -> ast.AST | None:
    """``ids + [pad_id] * (longest - len(ids))`` for each item."""
    if isinstance(item, ast.Call):
        return _of_call(code, module, item, frozenset())
    for side in (
        (item.left, item.right) if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Add) else ()
    ):
        if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult):
            filling = next((x for x in (side.left, side.right) if isinstance(x, ast.List)), None)
            if filling is not None and len(filling.elts) == 1 and is_token(code, module, filling.elts[0]):
                return item
    return None


def is_token(code: Code, module: Module, value: ast.expr) -> bool:
    """Whether a value is that of a token: the padding token's number, or a number that is not negative."""
    known = code.constant(module, value)
    if known is not None:
        return isinstance(known.value, int) and known.value >= 0
    return bool(PAD_ID.search(last_name(value)))


def _is_cut(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(p, ast.Slice) for p in parts)


def _is_part_of(node: ast.expr, name: str) -> bool:
    """``labels[:, 1:]`` and ``labels.long()``: what a name held before."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        if isinstance(node, ast.Subscript) and not _is_cut(node.slice):
            return False
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == name


def _assigned(module: Module, name: ast.Name) -> list[ast.expr]:
    """All that a name is assigned in its function; nothing where something is stored into it, or it is a parameter."""
    function = module.function(name)
    if function is None:
        return []
    found: list[ast.expr] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name.id and not isinstance(node.ctx, ast.Load):
            parent = module.parents.get(node)
            if not isinstance(parent, ast.Assign) or node not in parent.targets:
                return []
            found.append(parent.value)
        stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if stored and ast.unparse(node.value) == name.id and not isinstance(node.slice, ast.Constant):  # type: ignore[attr-defined]
            return []
        changed = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr.endswith("fill_")
        )
        if changed and ast.unparse(node.func.value) == name.id:  # type: ignore[attr-defined]
            return []
    return found


def masks(code: Code) -> bool:
    """Whether -100 is written anywhere other than to compare with."""
    return any(
        isinstance(n.op, ast.USub)
        and isinstance(n.operand, ast.Constant)
        and n.operand.value == 100
        and not isinstance(m.parents.get(n), ast.Compare)
        for m in code.modules
        for n in m.nodes(ast.UnaryOp)
    )
