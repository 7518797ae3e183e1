"""Loops of unequal length on the ranks: all of them go round as often as the shortest.

Facts:

- ``file``, ``line``: the loop.
"""

from __future__ import annotations

import ast
import re

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.fix.scopes import named
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.feeds import last_name
from firstcause.source.flow import origins
from firstcause.source.resolve import Defined, resolve

CAUSE = "uneven-batches-per-rank"
_RANK = re.compile(r"rank|world|shard", re.IGNORECASE)
KINDS = (ast.ClassDef, ast.FunctionDef)
AROUND = ("enumerate", "tqdm", "iter", "trange")


def line(facts: Facts, project: Project) -> Site | None:
    """Where the data is divided by the rank, if what the loop goes through shows it in the same file; else the loop."""
    loop = _loop(facts, project)
    if loop is None:
        return named_line(facts, project)
    module, node = loop
    through = iterated(node.iter)
    made = [o for o in origins(project, module.path, through.lineno, through) if o.module is module]
    divided = next((d for o in made if (d := _divided(module, o.node)) is not None), None)
    dealt = _dealt(project, module, divided) if divided is not None else None
    return dealt or module.site(divided if divided is not None else node)


def _dealt(project: Project, module: Module, divided: ast.AST) -> Site | None:
    """Where a class or function of the program's that is given the rank deals out by it: ``order[rank::world]``."""
    for call in (n for n in ast.walk(divided) if isinstance(n, ast.Call)):
        found = resolve(project, module, call.func)
        given = [*call.args, *(k.value for k in call.keywords)]
        told = any(_RANK.search(module.segment(a)) for a in given)
        if not told or not isinstance(found, Defined) or not isinstance(found.node, KINDS):
            continue
        rows = [
            n for n in ast.walk(found.node) if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Slice)
        ]
        # A step and a start: every so many of them from the rank's own on.
        strided = [
            n
            for n in rows
            if isinstance(n.slice, ast.Slice) and n.slice.step is not None and n.slice.lower is not None
            if _RANK.search(found.module.segment(n))
        ]
        if len(strided) == 1:
            return found.module.site(strided[0])
    return None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Agree on the smallest number before the loop; None where what it goes through is no plain name or has no length."""
    loop = _loop(facts, project)
    if loop is None:
        return None
    module, node = loop
    through = iterated(node.iter)
    torch, reduce = named(module, "torch"), named(module, "torch.distributed")
    plain = isinstance(through, (ast.Name, ast.Attribute)) or module.segment(through).startswith("range(")
    if torch is None or reduce is None or not plain:
        return None
    name = "fewest" if "fewest" not in {n.id for n in module.nodes(ast.Name)} else "fewest_of_all_ranks"
    text = module.segment(through)
    before = [
        inserted_line_before(module, node, f"{name} = {torch}.tensor(len({text}))"),
        inserted_line_before(module, node, f"{reduce}.all_reduce({name}, op={reduce}.ReduceOp.MIN)"),
    ]
    if None in before:
        return None
    edits = [e for e in before if e is not None]
    # range first: it ends before another batch is drawn.
    edits.append(replaced(module, through, f"(one for _, one in zip(range(int({name})), {text}))"))
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Go round the loop at {module.site(node)} on every rank as often as on the one with the fewest batches.",
        "Ranks that have more leave their last batches out of this epoch.",
        "A rank that leaves its loop for another reason. With DistributedDataParallel, `with model.join():` uses all batches.",
    )


def iterated(node: ast.expr) -> ast.expr:
    """What a loop goes through, without what only counts or shows it."""
    while isinstance(node, ast.Call) and node.args:
        if last_name(node.func) not in AROUND:
            break
        node = node.args[0]
    return node


def _loop(facts: Facts, project: Project) -> tuple[Module, ast.For] | None:
    module = module_of(facts, project)
    if module is None:
        return None
    line = int(facts["line"])
    found = [n for n in module.nodes_on(line) if isinstance(n, ast.For) and n.lineno == line]
    return (module, found[0]) if len(found) == 1 else None


def _divided(module: Module, node: ast.AST, depth: int = 0) -> ast.AST | None:
    """The expression, or the assignment of a name in it, that speaks of the rank."""
    if _RANK.search(module.segment(node)):
        return node
    function = module.function(node)
    for name in [n.id for n in ast.walk(node) if isinstance(n, ast.Name)] if depth < 3 else []:
        for assign in module.nodes(ast.Assign):
            bound = any(isinstance(t, ast.Name) and t.id == name for t in assign.targets)
            if bound and module.function(assign) is function and assign.lineno < node.lineno:  # type: ignore[attr-defined]
                found = _divided(module, assign.value, depth + 1)
                if found is not None:
                    return found
    return None
