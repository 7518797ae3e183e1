"""Whether a call that generates is given many prompts, or the one of this round."""

from __future__ import annotations

import ast

from firstcause.check.code import Call, Code
from firstcause.check.engines import Generation, tokenized
from firstcause.source.callsites import last_name
from firstcause.source.frames import Value
from firstcause.source.module import Module

HOPS = 4
GIVEN = {
    "vllm": ("prompts", "messages"),
    "sglang": ("prompt", "input_ids"),
    "pipeline": ("text_inputs", "inputs"),
}
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)
# What makes one list or array of something that may be one already, and what can only give many.
SAME = frozenset({"list", "tuple", "sorted", "array", "asarray", "reversed"})
MANY = frozenset({"map", "starmap", "tolist", "to_list", "repeat"})
GROWS = frozenset({"append", "extend", "insert"})


def takes_many(code: Code, one: Generation) -> bool:
    """Whether the code shows that each call gets several prompts: a list that is computed, a part of one."""
    call, chats = one.call, one.call.name == ".chat" or one.kind == "pipeline"
    given = _prompts(one)
    if one.kind == "transformers":
        made = tokenized(one)
        if made is None:
            return False
        call = made
        given = next((v for v in (made.argument("text"), made.argument("conversation")) if v), None)
        given = given or (Value(made.module, made.node.args[0]) if made.node.args else None)
        chats = last_name(made.node.func) == "apply_chat_template"
    return (
        given is not None and not given.path and _is_many(code, call, given.module, given.node, chats, HOPS)
    )


def _prompts(one: Generation) -> Value | None:
    for name in GIVEN.get(one.kind, ()):
        found = one.call.argument(name)
        if found is not None:
            return found
    args = one.call.node.args
    return Value(one.call.module, args[0]) if args and not isinstance(args[0], ast.Starred) else None


def _is_many(code: Code, call: Call, module: Module, node: ast.expr, chats: bool, hops: int) -> bool:
    if isinstance(node, COMPREHENSIONS):
        return not (chats and _is_turn(code, module, node.elt))
    if isinstance(node, (ast.List, ast.Tuple)):
        return _is_long(code, module, node, chats)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.BinOp):
        # ``[prompt] * n``
        return isinstance(node.op, ast.Mult) and isinstance(node.left, (ast.List, ast.Tuple)) and not chats
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if name in MANY:
            return True
        if name in SAME and node.args and isinstance(node.func, ast.Name):
            # Nobody makes a list of the letters of one prompt.
            inner = node.args[0]
            return not chats and (
                not isinstance(inner, (ast.List, ast.Tuple)) or _is_long(code, module, inner, chats)
            )
    if not hops or not isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
        return False
    if isinstance(node, ast.Name) and not chats and _is_filled(module, node):
        return True
    origins = [o for o in code.origins(module, node) if o.node is not node and isinstance(o.node, ast.expr)]
    return any(_is_many(code, call, o.module, o.node, chats, hops - 1) for o in origins)  # type: ignore[arg-type]


def _is_long(code: Code, module: Module, node: ast.List | ast.Tuple, chats: bool) -> bool:
    """Whether a list that is written out holds more than one prompt; the turns of a chat are one."""
    if any(isinstance(e, ast.Starred) for e in node.elts):
        return not chats
    if chats and any(_is_turn(code, module, e) for e in node.elts):
        return False
    return len(node.elts) > 1


def _is_turn(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether an element is one turn of a chat: a mapping with a role."""
    found = [o.node for o in code.origins(module, node)] or [node]
    return any(
        isinstance(n, ast.Dict) and any(getattr(k, "value", "") == "role" for k in n.keys) for n in found
    )


def _is_filled(module: Module, name: ast.Name) -> bool:
    """Whether a list is filled in a loop between its making and its use, such as for each row of a block."""
    function = module.function(name) or module.tree
    made = [
        n
        for n in ast.walk(function)
        if isinstance(n, ast.Assign)
        and isinstance(n.value, ast.List)
        and any(isinstance(t, ast.Name) and t.id == name.id for t in n.targets)
    ]
    loops = [_loops(module, n) for n in made]
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in GROWS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == name.id
        ):
            inside = _loops(module, node)
            # A loop that holds neither the list's making nor the call goes over many.
            if any(set(inside) - set(outer) - set(_loops(module, name)) for outer in loops):
                return True
    return False


def _loops(module: Module, node: ast.AST) -> list[ast.AST]:
    return [a for a in module.ancestors(node) if isinstance(a, (ast.For, ast.AsyncFor, ast.While))]
