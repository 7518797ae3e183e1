"""Where the project makes its optimizers."""

from __future__ import annotations

import ast

from firstcause.source import Module, Project
from firstcause.source.callees import library_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value


def constructions(project: Project) -> list[tuple[Module, ast.Call]]:
    """The calls that make an optimizer of torch, in the order of the text."""
    found = []
    for module in project.modules:
        for call in module.nodes(ast.Call):
            name = library_name(new_walk(project), Value(module, call))
            if name.startswith("torch.optim.") and "lr_scheduler" not in name and "swa" not in name:
                found.append((module, call))
    return found
