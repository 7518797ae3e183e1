"""Whether a program runs in several processes, and what only one of them runs."""

from __future__ import annotations

import ast

from firstcause.check.code import Call, Code
from firstcause.source.frames import Value
from firstcause.source.module import Module

STARTS = (
    "torch.distributed.init_process_group",
    "torch.distributed.distributed_c10d.init_process_group",
    "deepspeed.init_distributed",
)
# Words that tests of the one process that writes are made of.
RANK_WORDS = (
    "rank",
    "main_process",
    "master",
    "is_main",
    "local_process",
    "primary",
    "world_size",
    "distributed",
    "is_chief",
    "process_index",
    "process_zero",
    "coordinator",
    "is_root",
    "is_leader",
    "should_save",
)
HOPS = 3
SAVES = ("torch.save", "safetensors.torch.save_file", "safetensors.torch.save_model")
_POSITIONS = {**dict.fromkeys(SAVES, 1), "torch.load": 0}


def is_distributed(code: Code) -> bool:
    """Whether the program starts a process group itself."""
    return bool(code.calls(*STARTS))


def one_rank_only(code: Code, call: Call) -> bool:
    """Whether a test of the rank stands around a call, before it, or around every way to it."""
    return _one(code, call.module, call.node, HOPS)


def _one(code: Code, module: Module, node: ast.AST, hops: int) -> bool:
    child = node
    for parent in module.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and of_rank(code, module, parent.test):
            return True
        # ``if rank != 0: return`` before it.
        for before in getattr(parent, "body", []) if isinstance(getattr(parent, "body", None), list) else []:
            if before is child:
                break
            if isinstance(before, ast.If) and of_rank(code, module, before.test) and _leaves(before):
                return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if any(
                "rank" in ast.unparse(d).lower() or "main" in ast.unparse(d).lower()
                for d in parent.decorator_list
            ):
                return True
            calls = [c for c in code.own_calls(parent.name) if parent in {d.node for d in code.callees_of(c)}]
            return hops > 0 and bool(calls) and all(_one(code, c.module, c.node, hops - 1) for c in calls)
        child = parent
    return False


def of_rank(code: Code, module: Module, test: ast.expr) -> bool:
    """Whether a test asks which process this is, by its words or by what its names were made of."""
    if any(w in ast.unparse(test).lower() for w in RANK_WORDS):
        return True
    names = [n for n in ast.walk(test) if isinstance(n, ast.Name)]
    return any(
        w in ast.unparse(o.node).lower() for n in names for o in code.origins(module, n) for w in RANK_WORDS
    )


def writes(code: Code) -> list[Call]:
    """The calls that write weights by whoever makes them: no method of a library that asks for the rank itself."""
    pretrained = [
        c
        for c in code.methods("save_pretrained")
        if not any(c.may_have(name) for name in ("is_main_process", "save_function"))
    ]
    return [*code.calls(*SAVES), *pretrained]


def written_to(call: Call) -> Value | None:
    """The file or folder that a call writes to, or reads from."""
    if call.name == ".save_pretrained":
        return call.argument("save_directory", 0)
    return call.argument("filename" if call.name.startswith("safetensors") else "f", _POSITIONS[call.name])


def names_a_file(call: Call) -> bool:
    """Whether what a call reads or writes surely is a file that all processes share: a text or path that the code builds."""
    value = written_to(call)
    if value is None:
        return False
    if call.code.text_of(value) is not None:
        return True
    origins = call.code.origins(value.module, value.node)
    return bool(origins) and all(_is_path(o.node) for o in origins)


def _is_path(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in ("os.path.join", "Path", "pathlib.Path", "osp.join")
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div, ast.Mod))
    return (
        is_sum
        or isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    )


def _leaves(node: ast.If) -> bool:
    return bool(node.body) and isinstance(node.body[-1], (ast.Return, ast.Continue, ast.Raise))
