"""A collective that only some of the ranks reach, itself or through a function that they call.

Why: it needs every rank of its group: those that reach it wait for the others until the time-out ends the run.
Refuted by: the same collective on the other way, a group of its own, a test that holds where there is one rank only.
Holds for: torch, accelerate, lightning, transformers' trainers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from firstcause.check.code import Call, Code, finding
from firstcause.check.collectives import collectives
from firstcause.check.rule import Example
from firstcause.check.sides import Side, asks_for_several, is_alone, other, side
from firstcause.schema.finding import Category, Finding
from firstcause.source.arguments import argument
from firstcause.source.callsites import last_name
from firstcause.source.module import DEFINED, FUNCTIONS, Module, within

SLUG = "rank-dependent-collective"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

HOPS = 3
Guard = tuple[Side, ast.AST]


@dataclass(frozen=True, eq=False)
class _Reached:
    """A collective, and the call in the branch by which some ranks get to it."""

    collective: Call
    call: Call
    side: Side
    guard: ast.AST


def find(code: Code) -> Iterator[Finding]:
    every = collectives(code)
    found = [r for c in every for r in _reached(code, c, c, HOPS)]
    told = set()
    for one in found:
        if one.call.node in told or _joined(code, one, found, every):
            continue
        told.add(one.call.node)
        what = last_name(one.collective.node.func)
        who = "one rank" if one.side == "one" else "the rest of the ranks"
        through = "" if one.call is one.collective else f", which {last_name(one.call.node.func)} calls,"
        text = (
            f"only {who} comes here, and {what}{through} waits for every rank: call it on all of them, "
            "and test the rank for what is done with its result"
        )
        related = () if one.call is one.collective else (one.collective.site,)
        yield finding(SLUG, CATEGORY, one.call.module, one.call.node, text, related=related)


def _reached(code: Code, collective: Call, call: Call, hops: int) -> Iterator[_Reached]:
    """The places where a test of the rank stands on the way to a collective, up through the calls of its functions."""
    guard = _guard(code, call.module, call.node)
    if guard is not None:
        yield _Reached(collective, call, *guard)
        return
    function = call.module.function(call.node)
    if not isinstance(function, DEFINED) or hops == 0:
        return
    for caller in code.own_calls(function.name):
        if function in {d.node for d in code.callees_of(caller)} and _surely(call, function, caller):
            yield from _reached(code, collective, caller, hops - 1)


def _guard(code: Code, module: Module, node: ast.AST) -> Guard | None:
    """The innermost test of the rank around a node, or before it with a return, within its function."""
    child = node
    for parent in module.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            if is_alone(parent.test):
                return None
            found = side(code, module, parent.test)
            within = parent.body if isinstance(parent.body, list) else [parent.body]
            if found is not None:
                way = found if child in within else other(found)
                return (way, parent) if way is not None else None
        for before in _before(parent, child):
            found = (
                side(code, module, before.test) if isinstance(before, ast.If) and _leaves(before) else None
            )
            way = other(found)
            if way is not None:
                return way, before
        if isinstance(parent, FUNCTIONS):
            decorators = getattr(parent, "decorator_list", [])
            return next((("one", parent) for d in decorators if side(code, module, d) == "one"), None)
        child = parent
    return None


def _before(parent: ast.AST, child: ast.AST) -> list[ast.stmt]:
    body = getattr(parent, "body", None)
    return body[: body.index(child)] if isinstance(body, list) and child in body else []


def _leaves(node: ast.If) -> bool:
    return isinstance(node.body[-1], (ast.Return, ast.Continue)) and not node.orelse


def _surely(call: Call, function: ast.AST, caller: Call) -> bool:
    """Whether a function that is called by several ranks comes to a call: no test around it or before it says otherwise."""
    child: ast.AST = call.node
    for parent in call.module.ancestors(call.node):
        if isinstance(parent, (ast.IfExp, ast.BoolOp, ast.ExceptHandler, ast.While, ast.Lambda)):
            return False
        asked = (
            not isinstance(parent, ast.If)
            or child is parent.test
            or (child in parent.body and _asks(parent.test, function, caller))
        )
        if not asked:
            return False
        for before in _before(parent, child):
            leaves = any(isinstance(n, (ast.Return, ast.Raise)) for n in within(before))
            if (
                isinstance(before, ast.If)
                and leaves
                and not (is_alone(before.test) and _asks(before.test, function, caller))
            ):
                return False
        if parent is function:
            return True
        child = parent
    return False


def _asks(test: ast.expr, function: ast.AST, caller: Call) -> bool:
    """Whether a test only asks if there are several ranks; what is asked of a parameter has to be given, and no constant."""
    if not asks_for_several(test):
        return False
    assert isinstance(function, DEFINED)
    given = [*function.args.posonlyargs, *function.args.args]
    places = {a.arg: i - (given[0].arg in ("self", "cls")) for i, a in enumerate(given)}
    places |= {a.arg: len(given) for a in function.args.kwonlyargs}
    for name in {n.id for n in within(test) if isinstance(n, ast.Name)} & set(places):
        found = argument(caller.node, places[name], name)
        if found is None or isinstance(found.node, ast.Constant):
            return False
    return True


def _joined(code: Code, one: _Reached, found: list[_Reached], every: list[Call]) -> bool:
    """Whether the other ranks come to a collective as well, on the other way or at a test of their own."""
    function = one.call.module.function(one.call.node)
    for another in found:
        same = another.call.module.function(another.call.node) is function
        if same and another.side != one.side and _name(another.collective) == _name(one.collective):
            return True
    guard = one.guard
    if isinstance(guard, ast.If):
        inside = any(n is one.call.node for s in guard.body for n in within(s))
        # Who leaves before may have joined already.
        away: list[ast.AST] = [*guard.orelse] if inside else [*guard.body]
    else:
        away = [
            n
            for n in (getattr(guard, "body", None), getattr(guard, "orelse", None))
            if isinstance(n, ast.expr)
        ]
        away = [n for n in away if not any(x is one.call.node for x in within(n))]
    if any(_holds(code, one.call.module, n, every, HOPS) for n in away):
        return True
    ended = [c for c in code.methods_and_calls("destroy_process_group") if c.module is one.call.module]
    at = one.call.node.lineno
    return any(c.module.function(c.node) is function and c.node.lineno < at for c in ended)


def _holds(code: Code, module: Module, node: ast.AST, every: list[Call], hops: int) -> bool:
    """Whether any collective stands in some code, or in the functions that it calls."""
    nodes = {c.node for c in every} | {c.node for n in _OTHERS for c in code.methods_and_calls(n)}
    for inner in within(node):
        if not isinstance(inner, ast.Call):
            continue
        if inner in nodes:
            return True
        callees = code.callees_of(Call(code, module, inner, "")) if hops else []
        if any(
            isinstance(d.node, DEFINED) and _holds(code, d.module, d.node, every, hops - 1) for d in callees
        ):
            return True
    return False


# Ways to join that are no collectives of all by name: an object of the program's own, a store.
_OTHERS = ("barrier", "broadcast", "synchronize", "wait_for_everyone", "all_reduce", "recv", "wait")


def _name(call: Call) -> str:
    return last_name(call.node.func)


_BODY = """
import torch
import torch.distributed as dist
from scoring import top1

def main(net, loader, epochs):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    for epoch in range(epochs):
        step(net, loader)
{given}
"""
_SCORING = {
    "scoring.py": """
import torch
import torch.distributed as dist

def top1(net, loader, sync=True):
    tally = torch.zeros(2)
    for x, y in loader:
        tally += (net(x).argmax(1) == y).sum()
    {reduce}
    return tally

def wait():
    if dist.is_available() and dist.is_initialized():
        dist.barrier()
"""
}


def _program(given: str, reduce: str = "dist.all_reduce(tally)") -> Example:
    lines = "\n".join(f"        {x}" for x in given.splitlines())
    return Example(_BODY.format(given=lines), {n: t.replace("{reduce}", reduce) for n, t in _SCORING.items()})


BAD = (
    _program("if rank == 0:\n    print(epoch, top1(net, loader))  # found"),
    _program("if rank != 0:\n    continue\nbest = top1(net, loader)  # found"),
    _program("if rank == 0 and epoch % 5 == 0:\n    torch.save(net, 'x')\n    dist.barrier()  # found"),
    _program(
        "if not dist.get_rank():\n    top1(net, loader)  # found",
        "if dist.is_initialized():\n        dist.all_reduce(tally)",
    ),
    _program("score = top1(net, loader) if rank == 0 else 0.0  # found"),
    Example("""
from accelerate import Accelerator

def main(net, loader, optimizer):
    accelerator = Accelerator()
    net, loader, optimizer = accelerator.prepare(net, loader, optimizer)
    if accelerator.is_main_process:
        accelerator.unwrap_model(net).save_pretrained("out")
        accelerator.wait_for_everyone()  # found
"""),
    Example("""
from accelerate import Accelerator

class Runner:
    def __init__(self, net, loader):
        self.accelerator = Accelerator()
        self.net, self.loader = self.accelerator.prepare(net, loader)

    def score(self):
        hits = [self.accelerator.gather_for_metrics(self.net(x)) for x in self.loader]
        return sum(hits)

    def run(self):
        if not self.accelerator.is_main_process:
            return
        print(self.score())  # found
"""),
    Example("""
from transformers import Trainer, TrainingArguments

def main(model, data):
    trainer = Trainer(model=model, args=TrainingArguments("out"), train_dataset=data, eval_dataset=data)
    trainer.train()
    if trainer.is_world_process_zero():
        print(trainer.evaluate())  # found
"""),
)
GOOD = (
    _program("score = top1(net, loader)\nif rank == 0:\n    print(score)"),
    _program("if rank == 0:\n    torch.save(net, 'x')\ndist.barrier()"),
    _program("if rank == 0:\n    torch.save(net, 'x')\n    dist.barrier()\nelse:\n    dist.barrier()"),
    _program("if rank != 0:\n    dist.barrier()\nfetch()\nif rank == 0:\n    dist.barrier()"),
    _program("from scoring import wait\nif rank == 0:\n    fetch()\n    wait()\nelse:\n    wait()"),
    _program("if rank == 0:\n    dist.send(net.weight, 1)\nelse:\n    dist.recv(net.weight, 0)"),
    _program("if rank == 0:\n    top1(net, loader, sync=False)", "if sync:\n        dist.all_reduce(tally)"),
    _program("if dist.get_world_size() == 1 and rank == 0:\n    top1(net, loader)"),
    _program("if dist.get_world_size() > 1:\n    dist.barrier()"),
    _program("if rank < 4:\n    dist.all_reduce(net.weight.grad, group=half)"),
    _program("if epoch == 0:\n    top1(net, loader)"),
    Example("""
from accelerate import Accelerator

def main(net, data, tokenize):
    accelerator = Accelerator()
    with accelerator.main_process_first():
        data = data.map(tokenize)
    net, data = accelerator.prepare(net, data)
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        accelerator.unwrap_model(net).save_pretrained("out")
"""),
    Example("""
from transformers import Trainer, TrainingArguments

def main(model, data):
    trainer = Trainer(model=model, args=TrainingArguments("out"), train_dataset=data, eval_dataset=data)
    scores = trainer.evaluate()
    if trainer.is_world_process_zero():
        print(scores)
"""),
)
