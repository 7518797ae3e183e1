"""Few codes in use: those that a batch does not choose move onto outputs of the encoder.

Facts:

- ``file``, ``line``: where the code is chosen; ``name`` the codebook's parameter, ``vq.codebook.weight``.
- ``learned``: whether the codes have gradients; moving averages have more to be set than the codes.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import scope_of, statement_of
from firstcause.fix.draft import draft
from firstcause.fix.initial_values import initialisers
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.statements import inserted_line_after
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.callsites import last_name

CAUSE = "codebook-collapse"


def line(facts: Facts, project: Project) -> Site | None:
    """Where the codes get their first values, or are built; else where they are chosen."""
    attribute = _attribute(facts)
    if attribute:
        for one in initialisers(project):
            if f".{attribute}" in one.target:
                return one.module.site(one.call)
        for module in project.modules:
            for node in module.nodes(ast.Assign):
                target = node.targets[0]
                if (
                    isinstance(target, ast.Attribute)
                    and target.attr == attribute
                    and isinstance(node.value, ast.Call)
                ):
                    return module.site(node)
        registered = _registered(project, attribute)
        if registered is not None:
            return registered[0].site(registered[1])
    return named_line(facts, project)


def _registered(project: Project, attribute: str) -> tuple[Module, ast.AST] | None:
    """Where a buffer of this name gets its first values: what is registered, or the statement that made what is."""
    for module in project.modules:
        for call in module.nodes(ast.Call):
            named = (
                len(call.args) > 1
                and isinstance(call.args[0], ast.Constant)
                and call.args[0].value == attribute
            )
            if not named or last_name(call.func) != "register_buffer":
                continue
            given, function = call.args[1], module.function(call)
            if isinstance(given, ast.Name) and function is not None:
                made = [
                    n
                    for n in module.inside(function, ast.Assign)
                    if any(isinstance(t, ast.Name) and t.id == given.id for t in n.targets)
                ]
                if made:
                    return module, made[-1]
            return module, call
    return None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Unused codes set from the batch, right after the choice; None where the vectors have no name of their own there."""
    found = statement_of(facts, project)
    if found is None or not facts.get("learned"):
        return None
    module, statement = found
    index, codes, vectors = _index(statement), _codes(*found, facts), _vectors(*found, _attribute(facts))
    if index is None or codes is None or vectors is None:
        return None
    indent = " " * statement.col_offset
    lines = [
        "if self.training:",
        "    with torch.no_grad():",
        f"        unused = torch.bincount({index}.flatten(), minlength=len({codes})) == 0",
        f"        rows = {vectors}.detach().reshape(-1, {codes}.shape[1])",
        f"        {codes}[unused] = rows[torch.randint(len(rows), (int(unused.sum()),), device=rows.device)]",
    ]
    edit = inserted_line_after(module, statement, f"\n{indent}".join(lines))
    if edit is None:
        return None
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Set codes that a batch does not use to outputs of the encoder, after the choice at {site}.",
        "Indices change their meaning while the training goes on: what was trained on the old ones is to be trained again.",
        "An encoder that gives one value for all inputs.",
    )


def _attribute(facts: Facts) -> str:
    """The attribute that holds the codes: ``codebook`` of ``vq.codebook.weight`` and of ``vq.codebook``."""
    parts = str(facts.get("name") or "").removesuffix(".weight").split(".")
    return parts[-1]


def _index(statement: ast.stmt) -> str | None:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def _codes(module: Module, statement: ast.stmt, facts: Facts) -> str | None:
    """The codes' tensor as the function can name it: ``self.codebook.weight``."""
    attribute = _attribute(facts)
    ending = ".weight" if str(facts.get("name")).endswith(".weight") else ""
    named = {
        module.segment(n)
        for n in ast.walk(scope_of(module, statement))
        if isinstance(n, ast.Attribute) and n.attr == attribute and attribute
    }
    return f"{named.pop()}{ending}" if len(named) == 1 else None


def _vectors(module: Module, statement: ast.stmt, attribute: str) -> str | None:
    """What the function compares with the codes: the other argument of a distance or a product with them."""
    for node in ast.walk(scope_of(module, statement)):
        sides: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Sub)):
            sides = [node.left, node.right]
        elif isinstance(node, ast.Call) and len(node.args) >= 2:
            sides = list(node.args[-2:]) if len(node.args) == 3 else list(node.args[:2])
        if len(sides) == 2 and attribute and f".{attribute}" in module.segment(sides[1]):
            inner = _root(sides[0])
            if isinstance(inner, ast.Name):
                return inner.id
    return None


def _root(node: ast.expr) -> ast.expr:
    """What methods and subscripts are applied to: ``z`` of ``z.unsqueeze(1)`` and of ``z[:, None]``."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return node
