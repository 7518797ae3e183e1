"""float64 that meets float32 weights: cast once, where it arises.

Facts:

- ``file``, ``line``: the user's line that raised.
- ``birth``: where the float64 is first seen: ``kind`` is ``call`` (``function``, ``at``), ``state`` (``class_name``,
  ``name``; ``names`` all such; ``holders``: class and attribute of each module on the way to it, the innermost first)
  or ``data`` (``name``, ``at``).
- ``frames``: the traceback's lines, which tell callers apart.
"""

from __future__ import annotations

import ast

from firstcause.fix.arrivals import common, conversion, is_conversion, ways
from firstcause.fix.double_modules import double_module, single_module
from firstcause.fix.draft import draft
from firstcause.fix.dtypes import DOUBLE, RANDOM, SINGLE, dtype_of
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of
from firstcause.fix.rewrite import called
from firstcause.fix.states import State, states
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.callees import library_name
from firstcause.source.data import data_origins_of, places
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.walk import Chain, Hop

CAUSE = "dtype-double-vs-float"


def line(facts: Facts, project: Project) -> Site | None:
    """The line where float64 arises: an operation that promotes, a buffer, the tensor made of a float64 array."""
    place = _place(facts, project)
    return place.site if place is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Cast there; None where the code does not show what kind of value it is."""
    place = _place(facts, project)
    if place is None or not isinstance(place.node, ast.expr):
        return None
    edits, methods = _edits(facts, project, place)
    if not edits:
        return None
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Cast to float32 at {place.site}, where float64 arises."
        if methods
        else f"Leave the module of {place.site} in float32, as the other modules are.",
        f"{place.site}: the value gets `{methods}`; what is computed from it is float32, on every path."
        if methods
        else f"{place.site}: the module's parameters are float32, with half of their digits and of their memory.",
        "Whole numbers above 16 777 216, as time stamps or ids, which float32 cannot tell apart.",
    )


def _place(facts: Facts, project: Project) -> Hop | None:
    birth = facts.get("birth") or {}
    if birth.get("kind") == "state":
        found = _states(birth, project)
        return Hop(found[0].module, found[0].value) if found else double_module(birth, project)
    if birth.get("kind") == "call":
        return _of_call(birth, project)
    at = birth.get("at") or {}
    return _on_ways(project, ways(project, at, str(birth.get("name") or ""), facts.get("frames") or ()))


def _states(birth: Facts, project: Project) -> list[State]:
    found = []
    for class_name, name in birth.get("names") or [(birth.get("class_name") or "", birth.get("name") or "")]:
        found += states(project, class_name, name)
    doubles = [s for s in found if dtype_of(project, Value(s.module, s.value)) != SINGLE]
    return sorted(doubles, key=lambda s: s.value.lineno)


def _of_call(birth: Facts, project: Project) -> Hop | None:
    """A call of the step: a conversion of an array, or what makes a float64 tensor by itself."""
    module = module_of(birth.get("at") or {}, project)
    if module is None:
        return None
    nodes = [n for n in module.nodes_on(int(birth["at"]["line"])) if isinstance(n, ast.Call)]
    walk = new_walk(project)
    named = [
        n for n in nodes if library_name(walk, Value(module, n)).rpartition(".")[2] == birth.get("function")
    ]
    if len(named) != 1:
        return Hop(module, nodes[0]) if nodes else None
    call = named[0]
    if is_conversion(project, module, call) and call.args:
        found = data_origins_of(project, Value(module, call.args[0]))
        promoted = _promoted(project, [(Hop(module, call), *places(o)) for o in found])
        return promoted or Hop(module, call)
    return Hop(module, call)


def _on_ways(project: Project, found: list[Chain]) -> Hop | None:
    """The place on the data's ways; ways that end in float32 have no part in it."""
    double = [way for way in found if not any(_is_single(project, hop) for hop in way)]
    if not double:
        return None
    promoted = _promoted(project, double)
    if promoted is not None:
        return promoted
    made = [c for way in double if (c := conversion(project, way)) is not None]
    if made and len({id(c.node) for c in made}) == 1:
        return made[0]
    shared = common(double)
    return shared[-1] if shared else None


def _promoted(project: Project, found: list[Chain]) -> Hop | None:
    """The operation at the end of all ways in which a float64 array makes float64 of another one."""
    last = {id(way[-1].node): way[-1] for way in found}
    if len(last) != 1:
        return None
    hop = next(iter(last.values()))
    if not isinstance(hop.node, ast.BinOp) or dtype_of(project, Value(hop.module, hop.node)) != DOUBLE:
        return None
    parts: list[ast.expr] = [
        n
        for n in ast.walk(hop.node)
        if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load)
    ]
    kinds = [dtype_of(project, Value(hop.module, n)) for n in parts if not _is_inside(hop.module, n, parts)]
    return hop if DOUBLE in kinds and any(k != DOUBLE for k in kinds) else None


def _is_inside(module: Module, node: ast.expr, parts: list[ast.expr]) -> bool:
    return any(parent in parts for parent in module.ancestors(node))


def _is_single(project: Project, hop: Hop) -> bool:
    return isinstance(hop.node, ast.Call) and dtype_of(project, Value(hop.module, hop.node)) == SINGLE


def _edits(facts: Facts, project: Project, place: Hop) -> tuple[list[Edit], str]:
    birth = facts.get("birth") or {}
    if birth.get("kind") == "state":
        found = _states(birth, project)
        if not found:
            return single_module(place), ""
        tensors = [s for s in found if is_conversion(project, s.module, s.value)]
        return [e for s in tensors for e in called(s.module, s.value, ".float()")], ".float()"
    assert isinstance(place.node, ast.expr)
    if is_conversion(project, place.module, place.node):
        return called(place.module, place.node, ".float()"), ".float()"
    if _is_array(project, place) and dtype_of(project, Value(place.module, place.node)) == DOUBLE:
        method = f".astype({_float32(place.module)})"
        return called(place.module, place.node, method), method
    return [], ""


def _is_array(project: Project, place: Hop) -> bool:
    """Whether an expression gives an array of NumPy's: arithmetic on arrays, or a call of NumPy or its generators."""
    if isinstance(place.node, ast.BinOp):
        return True
    if not isinstance(place.node, ast.Call):
        return False
    name = library_name(new_walk(project), Value(place.module, place.node))
    return name.startswith("numpy.") or (name.startswith(".") and name[1:] in RANDOM)


def _float32(module: Module) -> str:
    """``np.float32`` by the name under which the file has NumPy, else the dtype's name as a text."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "numpy":
                    return f"{alias.asname or alias.name}.float32"
    return '"float32"'
