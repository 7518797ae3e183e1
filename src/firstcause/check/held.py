"""Objects that a program holds on to: where the call that makes one is stored, and the calls of what is stored there."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property

from firstcause.source.arguments import is_given_data
from firstcause.source.callsites import call_index, last_name
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.walk import Origin

Origins = Callable[[Module, ast.expr], list[Origin]]
Calling = tuple[Module, ast.Call]


class Held:
    """A project's objects by the calls that make them; ``origins`` answers where a value comes from."""

    def __init__(self, project: Project, origins: Origins) -> None:
        self.project = project
        self.origins = origins
        self._used: dict[str, dict[ast.AST, list[Calling]]] = {}

    def calls_of(self, module: Module, made: ast.Call) -> list[Calling]:
        """The calls of the object that one call makes."""
        return [
            calling for name in self._holders(module, made) for calling in self._calling(name).get(made, ())
        ]

    def _calling(self, name: str) -> dict[ast.AST, list[Calling]]:
        """The calls of a name by the one call that made what they call."""
        known = self._used.get(name)
        if known is None:
            known = self._used[name] = {}
            for value in call_index(self.project).by_name.get(name, ()):
                assert isinstance(value.node, ast.Call)
                if not is_given_data(value.node):
                    continue
                nodes = {o.node for o in self.origins(value.module, value.node.func)}
                if len(nodes) == 1:
                    known.setdefault(nodes.pop(), []).append((value.module, value.node))
        return known

    def _holders(self, module: Module, made: ast.Call) -> set[str]:
        """The names under which what a call makes may be called: where it is stored, and parameters that are called."""
        targets = {last_name(t) for t in _targets(module, made)}
        statement = module.statement(made)
        is_stored = isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is made
        if is_stored and "" not in targets and not targets & call_index(self.project).values:
            # It is called, and nothing else is done with it: no other function gets it.
            return targets
        return {t for t in targets if t} | self._called_parameters

    @cached_property
    def _called_parameters(self) -> frozenset[str]:
        """The parameters of the project's functions whose names are called somewhere: objects that were handed in."""
        called = call_index(self.project).by_name
        return frozenset(
            name.arg
            for module in self.project.modules
            for function in module.nodes(ast.FunctionDef)
            for name in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
            if name.arg in called and name.arg not in ("self", "cls")
        )


def _targets(module: Module, node: ast.AST) -> list[ast.expr]:
    """What the statement around a node assigns to."""
    statement = module.statement(node)
    written = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        written = [statement.target]
    return [t for w in written for t in (w.elts if isinstance(w, ast.Tuple) else [w])]
