"""Parts of a model that are deep copies of another one's: switched off where those are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.source.arguments import bound
from firstcause.source.callsites import call_sites, last_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Frame
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.switches import Switch, switches

PARTS = (ast.Attribute, ast.Subscript)
AROUND = frozenset({"enumerate", "reversed", "list", "tuple", "zip", "islice"})


@dataclass(frozen=True)
class DeepCopy:
    """The call in ``student.layers[0] = copy.deepcopy(teacher.layers[0])``, and the names that the two models go by."""

    module: Module
    call: ast.Call
    into: frozenset[str]
    of: frozenset[str]
    # The attribute that gets it: "layers"; empty where it is given to the new model's class.
    part: str


def unfrozen_copies(project: Project) -> list[DeepCopy]:
    """Copies of parts of what the program switches off, into a model of which it switches nothing by name."""
    switched = [(_switched(project, s), s.on) for s in switches(project)]
    off = {name for names, on in switched if on is False for name in names}
    any_way = {name for names, _ in switched for name in names}
    # One name for both models tells nothing of either.
    found = [c for c in _copies(project) if c.into and not c.of & c.into]
    return [c for c in found if c.of & off and not c.into & any_way]


def _switched(project: Project, switch: Switch) -> set[str]:
    """The names of the model that is switched: of a loop's variable, of what it runs over; of a parameter, of what is given."""
    root = _ran_over(switch.module, switch.statement, root_of(switch.receiver))
    return _names(project, switch.module, switch.statement, root)


def _ran_over(module: Module, node: ast.AST, root: str) -> str:
    for around in module.ancestors(node):
        for target, over in _loops(around):
            if any(isinstance(n, ast.Name) and n.id == root for n in ast.walk(target)):
                root = root_of(_plain(over))
    return root


def _plain(over: ast.expr) -> ast.expr:
    """What is gone through, without ``enumerate`` and the like around it."""
    while isinstance(over, ast.Call) and last_name(over.func) in AROUND and over.args:
        over = over.args[0]
    return over


def _loops(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.For):
        return [(node.target, node.iter)]
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
        return [(g.target, g.iter) for g in node.generators]
    return []


def _names(project: Project, module: Module, node: ast.AST, root: str) -> set[str]:
    """A name, and where it is a parameter of its function the names of what the program gives for it."""
    function = module.function(node)
    if not root or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {root} - {""}
    given = [_argument(frame, root) for frame in _calls(project, module, function)]
    return {root} | {root_of(one) for one in given if one is not None} - {""}


def _calls(
    project: Project, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Frame]:
    """The calls of a function, of the class where it is the one that begins an object."""
    return (f for f in call_sites(new_walk(project), module, function) if f.call is not None)


def _argument(frame: Frame, name: str) -> ast.expr | None:
    """What a call gives for one parameter of its function."""
    assert frame.call is not None
    assert isinstance(frame.call.node, ast.Call)
    given, _ = bound(frame.function, name, frame.call.node, frame.implicit, frame.skip, ())
    return given.node if given is not None and given.sure else None


def _copies(project: Project) -> Iterator[DeepCopy]:
    for module in project.modules:
        for call in module.nodes(ast.Call):
            if last_name(call.func) != "deepcopy" or not call.args:
                continue
            given, statement = call.args[0], module.statement(call)
            root = root_of(given)
            over = _ran_over(module, call, root)
            if statement is None or not over or not (isinstance(given, PARTS) or over != root):
                continue
            into, part = _into(project, module, statement, call)
            yield DeepCopy(
                module, call, frozenset(into), frozenset(_names(project, module, call, over)), part
            )


def _into(project: Project, module: Module, statement: ast.stmt, call: ast.Call) -> tuple[set[str], str]:
    """The names of the model that gets a copy: what it is assigned to a part of, or what is made of it, and the part."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], PARTS):
        target = statement.targets[0]
        own = statement.value is call or not isinstance(statement.value, ast.Call)
        return _owners(project, module, statement, root_of(target)), _attribute(target) if own else ""
    if not _is_made_of(module, call):
        return set(), ""
    function = module.function(statement)
    returned = _assigned(project, module, function) if isinstance(function, ast.FunctionDef) else set()
    if isinstance(statement, ast.Assign):
        return {last_name(t) for t in statement.targets} - {""} | returned, ""
    # Gathered in a list, a copy is part of what the function makes of the list.
    gathered = isinstance(statement, ast.Expr) and last_name(_taker(module, call)) == "append"
    return (returned, "") if isinstance(statement, ast.Return) or gathered else (set(), "")


def _taker(module: Module, call: ast.Call) -> ast.expr:
    """The function of the call that a call is given to, else its own."""
    around = next((a for a in module.ancestors(call) if isinstance(a, ast.Call)), call)
    return around.func


def _is_made_of(module: Module, call: ast.Call) -> bool:
    """Whether a copy is among the arguments of another call: one by itself is what it was."""
    around = module.ancestors(call)
    return any(isinstance(a, ast.Call) for a in around if isinstance(a, ast.expr))


def _owners(project: Project, module: Module, statement: ast.stmt, root: str) -> set[str]:
    """The names of the object whose part is assigned; of ``self``, of what the program makes of the class."""
    function = module.function(statement)
    if root == "self" and isinstance(function, ast.FunctionDef) and function.name == "__init__":
        return {"self"} | _assigned(project, module, function)
    return {root} - {""}


def _assigned(project: Project, module: Module, function: ast.FunctionDef) -> set[str]:
    """The names that the program gives to what calls of a function return."""
    found: set[str] = set()
    for call in (frame.call for frame in _calls(project, module, function)):
        statement = call.module.statement(call.node) if call is not None else None
        if isinstance(statement, ast.Assign):
            found |= {last_name(t) for t in statement.targets} - {""}
    return found


def _attribute(node: ast.expr) -> str:
    """The first attribute behind the name that an expression begins with."""
    found = ""
    while isinstance(node, PARTS):
        found = node.attr if isinstance(node, ast.Attribute) else found
        node = node.value
    return found


def root_of(node: ast.expr) -> str:
    """The name that an expression begins with: ``teacher`` of ``teacher.eval().layers[0]``; empty for none."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return ""
    return node.id
