"""The operation that a replay points at: which node on the line it is, and which part of it to change."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from firstcause.schema import Site
from firstcause.source import Module, Project
from firstcause.source.arguments import argument
from firstcause.source.callees import library_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value

Facts = Mapping[str, Any]
Finder = Callable[[Project, Module, ast.expr], ast.expr | None]


def name_of(facts: Facts) -> str:
    """The submodule's path as the facts give it, for a sentence."""
    known = facts.get("attribute_path") or facts.get("class_name")
    return f"`{known}`" if known else "the layer"


def module_of(facts: Facts, project: Project) -> Module | None:
    """The file that the facts name."""
    return project.module(str(facts["file"])) if facts.get("file") else None


def candidates(
    project: Project, module: Module, facts: Facts, operand: Finder
) -> list[tuple[ast.expr, ast.expr]]:
    """The operations on the line and the operand of each; one only where column or occurrence tell which."""
    line = int(facts["line"])
    nodes = [node for node in module.nodes_on(line) if isinstance(node, ast.expr)]
    found = [(node, part) for node in nodes if (part := operand(project, module, node))]
    column, end_column = facts.get("column"), facts.get("end_column")
    if column is not None:
        end_line = int(facts.get("end_line") or line)
        exact = [f for f in found if _span(f[0]) == (line, column, end_line, end_column)]
        around = [f for f in found if _holds(f[0], (line, int(column)))]
        found = exact or around[-1:] or found
    occurrence = facts.get("occurrence")
    if occurrence is not None and len(found) > 1:
        found = found[int(occurrence) : int(occurrence) + 1]
    return found


def _span(node: ast.expr) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _holds(node: ast.expr, place: tuple[int, int]) -> bool:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= place < end


def named_line(facts: Facts, project: Project) -> Site | None:
    """The line that the facts name, where it is the project's and has something on it."""
    module = module_of(facts, project)
    if module is None:
        return None
    line = int(facts["line"])
    nodes = module.nodes_on(line)
    return Site(module.name, line, module.qualified_name(nodes[0]), module.line(line)) if nodes else None


def operation_line(facts: Facts, project: Project, operand: Finder) -> Site | None:
    """The line of the first such operation where the facts point; else the line that they name."""
    module = module_of(facts, project)
    found = candidates(project, module, facts, operand) if module is not None else []
    return module.site(found[0][0]) if module is not None and found else named_line(facts, project)


def call_operand(project: Project, module: Module, node: ast.expr, names: frozenset[str]) -> ast.expr | None:
    """The tensor that a call of ``torch.name(x)`` or ``x.name()`` works on, for one of the names."""
    if not isinstance(node, ast.Call):
        return None
    last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if last not in names and isinstance(node.func, ast.Attribute):
        return None
    name = library_name(new_walk(project), Value(module, node))
    if name.startswith("torch.") and name.rpartition(".")[2] in names:
        given = argument(node, 0, "input")
        return given.node if given is not None and given.sure else None
    if name.startswith(".") and name[1:] in names and isinstance(node.func, ast.Attribute):
        return node.func.value
    return None
