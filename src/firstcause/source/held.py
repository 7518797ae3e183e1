"""Where the program makes what an attribute of one of its objects holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from firstcause.source.constructs import classes_named
from firstcause.source.module import Module, within
from firstcause.source.project import Project


def made_at(project: Project, held: Mapping[str, Any]) -> tuple[Module, ast.AST] | None:
    """The assignment of the attribute that ``path`` ends in, in the class ``owner``; of a local class its definition."""
    if held.get("local_class"):
        for found in classes_named(project, str(held["local_class"])):
            return found.module, found.node
    attribute = _last(str(held.get("path") or ""))
    for found in classes_named(project, str(held.get("owner") or "")):
        for node in within(found.node):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and _assigns(node, attribute):
                return found.module, node
    for module in project.modules:
        for node in module.nodes(ast.Assign):
            if _assigns(node, attribute):
                return module, node
    return None


def _last(path: str) -> str:
    names = re.findall(r"\.(\w+)", re.sub(r"\[[^\]]*\]", "", f".{path}"))
    return names[-1] if names else path


def _assigns(node: ast.AST, attribute: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(t, ast.Attribute) and t.attr == attribute for t in targets)
