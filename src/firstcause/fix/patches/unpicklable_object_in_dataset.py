"""What a spawned worker cannot be sent: a lambda becomes a function of the file, a lock or a file is made in each worker.

Facts:

- ``file``, ``line``: where the first part is defined or made.
- ``leaves``: each with ``path``, ``kind``, ``owner`` its holder's class, ``defined`` its place where it is a function.
"""

from __future__ import annotations

import ast
import builtins

from firstcause.fix.additions import defined_before, imported, method_before
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.held import made_at
from firstcause.source.module import FUNCTIONS

CAUSE = "unpicklable-object-in-dataset"


def line(facts: Facts, project: Project) -> Site | None:
    """Where the part is defined or made."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Every part in a form that can be sent; None where one of them shows no such form."""
    edits: list[Edit] = []
    done: set[tuple[str, int, int]] = set()
    for leaf in facts.get("leaves") or ():
        found = _lambda(leaf, project, done) if leaf["defined"] else _made_again(leaf, project, done)
        if found is None:
            return None
        edits += found
    names = ", ".join(f"`{leaf['path']}`" for leaf in facts.get("leaves") or ())
    return draft(
        project,
        root,
        CAUSE,
        dict.fromkeys(edits),
        f"Give workers {names} in a form that can be pickled.",
        "What was one object of the main process is one of its own in each worker.",
        "Whatever workers were meant to share by it: they never did.",
    )


def _lambda(leaf: Facts, project: Project, done: set[tuple[str, int, int]]) -> list[Edit] | None:
    """The lambda as a function of the file; what it takes from around it is bound by ``functools.partial``."""
    module = project.module(str(leaf["defined"]["file"]))
    nodes = module.nodes_on(int(leaf["defined"]["line"])) if module is not None else []
    found = [n for n in nodes if isinstance(n, ast.Lambda) and n.lineno == leaf["defined"]["line"]]
    if module is None or leaf["defined"]["function"] != "<lambda>" or not found:
        return None
    edits: list[Edit] = []
    for node in found:
        key = (module.path, node.lineno, node.col_offset)
        if key in done:
            continue
        done.add(key)
        bound = _bound_outside(module, node)
        name = f"_{str(leaf['path']).split('.')[-1].split('[')[0]}_{node.lineno}" + (
            f"_{node.col_offset}" if len(found) > 1 else ""
        )
        arguments = ", ".join([*bound, *filter(None, [ast.unparse(node.args)])])
        function = defined_before(
            module, node, f"def {name}({arguments}):\n    return {module.segment(node.body)}"
        )
        if function is None or node.args.posonlyargs:
            return None
        text = f"functools.partial({name}, {', '.join(bound)})" if bound else name
        edits += [function, replaced(module, node, text), *(imported(module, "functools") if bound else [])]
    return edits


def _bound_outside(module: Module, node: ast.Lambda) -> list[str]:
    """Names that a lambda takes from the functions around it, in the order of their use."""
    own = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    around: set[str] = set()
    for holder in module.ancestors(node):
        if isinstance(holder, FUNCTIONS):
            around |= {a.arg for a in ast.walk(holder.args) if isinstance(a, ast.arg)}
            stored = [n for n in ast.walk(holder) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
            around |= {n.id for n in stored}
    used = [n.id for n in ast.walk(node.body) if isinstance(n, ast.Name) and n.id not in own]
    return [n for n in dict.fromkeys(used) if n in around]


def _made_again(leaf: Facts, project: Project, done: set[tuple[str, int, int]]) -> list[Edit] | None:
    """The attribute left out of what is sent, and made again by the same expression in the worker."""
    made = made_at(project, leaf)
    if made is None or not isinstance(made[1], ast.Assign) or "[" in str(leaf["path"]).rpartition(".")[2]:
        return None
    module, statement = made[0], made[1]
    owner = module.method_class(statement)
    method = module.function(statement)
    target = statement.targets[0]
    if owner is None or not isinstance(method, ast.FunctionDef) or not isinstance(target, ast.Attribute):
        return None
    key = (module.path, owner.lineno, 0)
    has = {f.name for f in owner.body if isinstance(f, ast.FunctionDef)}
    if key in done or has & {"__getstate__", "__setstate__", "__reduce__"}:
        return None
    done.add(key)
    value = _of_self(module, method, statement.value)
    if value is None:
        return None
    text = f"""
        def __getstate__(self):
            return {{k: v for k, v in self.__dict__.items() if k != "{target.attr}"}}

        def __setstate__(self, state):
            self.__dict__.update(state)
            self.{target.attr} = {value}
    """
    after = next((f for f in owner.body if isinstance(f, ast.FunctionDef) and f.lineno > method.lineno), None)
    return [method_before(module, after or method, text)]


def _of_self(module: Module, method: ast.FunctionDef, value: ast.expr) -> str | None:
    """The expression with the constructor's arguments as the object keeps them; None where it does not keep them."""
    kept = {
        s.value.id: f"self.{s.targets[0].attr}"
        for s in ast.walk(method)
        if isinstance(s, ast.Assign)
        and isinstance(s.value, ast.Name)
        and isinstance(s.targets[0], ast.Attribute)
    }
    local = {a.arg for a in ast.walk(method.args) if isinstance(a, ast.arg)} - {"self"}
    local |= {n.id for n in ast.walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    text = module.segment(value)
    if "\n" in text:
        return None
    for node in sorted((n for n in ast.walk(value) if isinstance(n, ast.Name)), key=lambda n: -n.col_offset):
        if node.id in local and not hasattr(builtins, node.id):
            if node.id not in kept:
                return None
            start = module.span(node)[0] - module.span(value)[0]
            text = text[:start] + kept[node.id] + text[start + len(node.id) :]
    return text
