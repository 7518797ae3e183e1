"""Secrets that the code takes from the environment, where the brief says that they stand there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact


def secret_facts(code: Code) -> Iterator[Fact]:
    """A fact for each asked variable that ``os.environ`` or ``os.getenv`` is asked for; it only confirms."""
    for asked in code.asked("secrets"):
        for module in code.modules:
            for node in module.nodes(ast.Constant):
                parent = module.parents.get(node)
                if isinstance(getattr(parent, "ctx", None), ast.Store):
                    # What the code writes itself, it does not take from there.
                    continue
                if isinstance(parent, (ast.Call, ast.Subscript)) and node.value == asked.value:
                    taken = ast.unparse(parent.func if isinstance(parent, ast.Call) else parent.value)
                    if taken.endswith(("environ", "environ.get", "getenv")):
                        yield Fact("secrets", node.value, module.site(node), taken, confirms=True)
