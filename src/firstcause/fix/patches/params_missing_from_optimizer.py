"""Parameters in no group of the optimizer: they are handed to it.

Facts:

- ``missing``: what is left out, each with its ``name`` in the model and the class of the model, ``root``.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.optimizers import constructions
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.arguments import argument
from firstcause.source.flow import origins

CAUSE = "params-missing-from-optimizer"
WALKS = ("modules", "named_modules", "parameters", "named_parameters", "children", "named_children")


def line(facts: Facts, project: Project) -> Site | None:
    """The choice among named parameters that leaves some out, else the line that makes the optimizer."""
    made = constructions(project)
    if len(made) != 1:
        return None
    chosen = _chosen(project, *made[0])
    if chosen is not None:
        return chosen[0].site(chosen[1])
    module, call = made[0]
    gathered = _gathered(module, call)
    return module.site(gathered if gathered is not None else call)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The part beside those that it is given, or all parameters where a test on names left some out."""
    made = constructions(project)
    if len(made) != 1:
        return None
    module, call = made[0]
    given = argument(call, 0, "params")
    if given is None or not isinstance(given.node, ast.expr):
        return None
    chosen = _chosen(project, module, call)
    text = _all_of(*chosen) if chosen is not None else _with_others(facts, project, module, given.node)
    if text is None:
        return None
    if chosen is not None and isinstance(chosen[1], ast.ListComp) and chosen[1] is not given.node:
        # A name may be read again, and a generator only once.
        text = f"list({text})"
    site = module.site(call) if chosen is None else chosen[0].site(chosen[1])
    edit = replaced(module, given.node, text) if chosen is None else replaced(*chosen, text)
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Hand all parameters that are trained to the optimizer at {site}: `{text}`.",
        f"{site}: they are trained with the rest; checkpoints of the optimizer from before do not fit.",
        "Parts that were left out on purpose: set requires_grad_(False) on them.",
    )


def _chosen(project: Project, module: Module, call: ast.Call) -> tuple[Module, ast.expr] | None:
    """The one choice by a test that what the optimizer is given comes from, wherever it is written."""
    given = argument(call, 0, "params")
    if given is None or not isinstance(given.node, ast.expr):
        return None
    found = [
        (o.module, o.node)
        for o in origins(project, module.path, given.node.lineno, given.node)
        if isinstance(o.node, ast.expr) and _all_of(o.module, o.node) is not None
    ]
    return found[0] if len(found) == 1 else None


def _gathered(module: Module, call: ast.Call) -> ast.expr | None:
    """The last test of a loop that puts parameters into groups by their kind, and into none where no test holds."""
    scope = module.function(call) or module.tree
    found = []
    for loop in module.inside(scope, ast.For):
        over = loop.iter
        named = isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr
        last = loop.body[-1]
        if named not in WALKS or not isinstance(last, ast.If) or loop.lineno > call.lineno:
            continue
        while len(last.orelse) == 1 and isinstance(last.orelse[0], ast.If):
            last = last.orelse[0]
        puts = [n for n in ast.walk(loop) if isinstance(n, ast.Attribute) and n.attr in ("append", "extend")]
        if not last.orelse and puts:
            found.append(last.test)
    return found[0] if len(found) == 1 else None


def _all_of(module: Module, given: ast.expr) -> str | None:
    """``M.parameters()`` in place of a choice among ``M.named_parameters()`` by a test."""
    if not isinstance(given, (ast.ListComp, ast.GeneratorExp)) or len(given.generators) != 1:
        return None
    source = given.generators[0].iter
    chosen = bool(given.generators[0].ifs) and isinstance(source, ast.Call)
    if chosen and isinstance(source.func, ast.Attribute) and source.func.attr == "named_parameters":  # type: ignore[attr-defined]
        return f"{module.segment(source.func.value)}.parameters()"  # type: ignore[attr-defined]
    return None


def _with_others(facts: Facts, project: Project, module: Module, given: ast.expr) -> str | None:
    parts = {
        (str(m["root"]), str(m["name"]).partition(".")[0], "." in str(m["name"]))
        for m in facts.get("missing") or []
    }
    others = [_text_of(part, project, module, given) for part in sorted(parts)]
    if not others or None in others:
        return None
    added = ", ".join(dict.fromkeys(f"*{o}" for o in others if o))
    return f"[*{module.segment(given)}, {added}]"


def _text_of(part: tuple[str, str, bool], project: Project, module: Module, given: ast.expr) -> str | None:
    """``model.decoder.parameters()`` beside ``model.encoder.parameters()``; a model of its own by its variable."""
    root, first, is_nested = part
    variables = _variables(module, root)
    handed = [
        c.func.value
        for c in ast.walk(given)
        if isinstance(c, ast.Call)
        and isinstance(c.func, ast.Attribute)
        and c.func.attr.endswith("parameters")
    ]
    for receiver in handed:
        if isinstance(receiver, ast.Attribute):
            owner = module.segment(receiver.value)
            # self.encoder: the other part is an attribute of the same object, where that is the model.
            if owner in variables or _class_of(module, receiver) == root:
                return f"{owner}.{first}.parameters()" if is_nested else f"[{owner}.{first}]"
    whole = [v for v in variables if all(module.segment(r).partition(".")[0] != v for r in handed)]
    return f"{whole[0]}.parameters()" if len(whole) == 1 else None


def _variables(module: Module, kind: str) -> list[str]:
    """The names that an object of a class is bound to in this file."""
    return list(
        dict.fromkeys(
            module.segment(n.targets[0])
            for n in module.nodes(ast.Assign)
            if isinstance(n.value, ast.Call) and module.segment(n.value.func).rpartition(".")[2] == kind
        )
    )


def _class_of(module: Module, node: ast.AST) -> str:
    kind = module.method_class(node)
    return kind.name if kind is not None else ""
