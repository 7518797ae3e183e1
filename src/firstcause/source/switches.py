"""Where the program switches gradients of parameters on and off."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.project import Project

LOOPS = (ast.For, ast.While)


@dataclass(frozen=True)
class Switch:
    """One statement: ``on`` as it is written, None where a value decides; ``receiver`` is what is switched."""

    module: Module
    statement: ast.stmt
    receiver: ast.expr
    on: bool | None
    is_attribute: bool

    @property
    def whole(self) -> ast.stmt:
        """The outermost loop around it that does nothing else than to switch, else the statement itself."""
        found = self.statement
        for node in self.module.ancestors(self.statement):
            if not isinstance(node, (*LOOPS, ast.If)) or len(node.body) > 1 or node.orelse:
                break
            found = node if isinstance(node, LOOPS) else found
        return found

    @property
    def looks_only(self) -> bool:
        """Whether its function evaluates, and takes no step of training."""
        function = self.module.function(self.statement)
        if function is None or isinstance(function, ast.Lambda):
            return False
        made = self.module.inside(function, ast.Call)
        calls = [c.func.attr for c in made if isinstance(c.func, ast.Attribute)]
        text = " ".join(self.module.segment(d) for d in function.decorator_list)
        quiet = "no_grad" in calls or "inference_mode" in calls or "no_grad" in text or "eval" in calls
        return quiet and "backward" not in calls and "step" not in calls


def switches(project: Project) -> list[Switch]:
    """All of them, in the order of the text of each file."""
    found = []
    for module in project.modules:
        for node in module.nodes(ast.Assign, ast.Call):
            one = _assigned(module, node) if isinstance(node, ast.Assign) else _called(module, node)
            found += [one] if one is not None else []
    return found


def _assigned(module: Module, node: ast.Assign) -> Switch | None:
    target = node.targets[0]
    if not isinstance(target, ast.Attribute) or target.attr != "requires_grad":
        return None
    return Switch(module, node, target.value, _written(node.value), True)


def _called(module: Module, node: ast.AST) -> Switch | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr != "requires_grad_":
        return None
    statement = module.statement(node)
    values = [*node.args[:1], *(k.value for k in node.keywords)]
    on = _written(values[0]) if values else True
    return Switch(module, statement, node.func.value, on, False) if statement is not None else None


def _written(value: ast.expr) -> bool | None:
    return bool(value.value) if isinstance(value, ast.Constant) else None


def thaws_by_name(project: Project) -> list[tuple[Module, ast.expr]]:
    """The tests ``name.startswith(…)`` around a statement that switches parameters on."""
    return [
        (switch.module, call)
        for switch in switches(project)
        if switch.on
        for node in switch.module.ancestors(switch.statement)
        if isinstance(node, ast.If)
        for call in ast.walk(node.test)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "startswith"
    ]


def texts_of_thaws(project: Project) -> set[str]:
    """The texts that reach such a test: written in it, or given to its function, by themselves or in a table with a name."""
    found: set[str] = set()
    for module, test in thaws_by_name(project):
        function = module.function(test)
        given: list[ast.AST] = [test]
        for other in project.modules:
            for call in other.nodes(ast.Call):
                if isinstance(function, ast.FunctionDef) and last_name(call.func) == function.name:
                    given += call.args
                    given += [k.value for k in call.keywords]
        names = {n.id for g in given for n in ast.walk(g) if isinstance(n, ast.Name)}
        for other in project.modules:
            for assign in other.nodes(ast.Assign):
                if any(isinstance(t, ast.Name) and t.id in names for t in assign.targets):
                    given.append(assign.value)
        texts = (n.value for g in given for n in ast.walk(g) if isinstance(n, ast.Constant))
        found |= {t for t in texts if isinstance(t, str) and t}
    return found
