"""Where a count (rows of a table, classes of a head) is decided, and how to make it larger there and only there."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.fix.edits import Edit
from firstcause.fix.rewrite import like, plus, replaced
from firstcause.schema import Site
from firstcause.source import Module, Origin, Project
from firstcause.source.callsites import call_index
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value
from firstcause.source.options import destination
from firstcause.source.uses import exclusive_place
from firstcause.source.walk import Hop


@dataclass(frozen=True, eq=False)
class Count:
    """The expression to change for a count, and the origin of its value."""

    place: Hop
    origin: Origin

    @property
    def site(self) -> Site:
        return self.place.site

    @property
    def text(self) -> str:
        return self.place.module.segment(self.place.node)


def count_of(project: Project, value: Value, seen: int | None = None) -> Count | None:
    """Where a count is decided: the one expression that computes it; ``seen`` is what it was, where that is known.

    A literal that other code reads as well is left alone, and the last place before it that nobody else
    reads is taken: the table may need a row more than the constant says, the constant's other users not.
    The default of an option that had another value is not what was computed with: the expression itself is taken.
    None where several expressions can give the count.
    """
    found = value_origins(project, value)
    if len(found) != 1:
        return None
    origin = found[0]
    question = Hop(value.module, value.node)
    number = origin.node if isinstance(origin.node, ast.Constant) else None
    if origin.kind == "config" and number is not None and seen is not None and number.value != seen:
        return Count(question, origin)
    if origin.exact and number is None and origin.kind in ("operation", "call"):
        return Count(Hop(origin.module, origin.node), origin)
    place = exclusive_place(project, origin, question)
    return Count(place, origin)


def by_option(project: Project, count: Count, new: int) -> str:
    """A sentence on the option of the command line that gives the count, for the end of another; else ''."""
    node = count.place.node
    if count.origin.kind != "config" or not isinstance(node, ast.Attribute):
        return ""
    declared = call_index(project).by_name.get("add_argument", [])
    calls = [v.node for v in declared if isinstance(v.node, ast.Call) and destination(v.node) == node.attr]
    words = [a.value for call in calls for a in call.args if isinstance(a, ast.Constant)]
    option = next((w for w in words if isinstance(w, str) and w.startswith("--")), None)
    return f" `{option} {new}` on the command line does it without a patch." if option else ""


def raised(count: Count, amount: int) -> list[Edit]:
    """Edits that add to a count; none where its expression is not all of the value.

    A number of distinct values becomes the largest value plus one: with gaps among them the two differ.
    """
    node, module = count.place.node, count.place.module
    if not isinstance(node, ast.expr) or (node is count.origin.node and not count.origin.exact):
        return []
    largest = _largest_of_distinct(module, node)
    if largest is not None:
        return [replaced(module, node, f"{largest} + 1")]
    return plus(module, node, amount)


def _largest_of_distinct(module: Module, node: ast.expr) -> str | None:
    """The largest of the values whose distinct ones are counted, as ``len(np.unique(x))`` does; None for other counts."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "nunique" and not node.args:
        return f"int({module.segment(node.func.value)}.max())"
    counted = (
        node.args[0] if isinstance(node.func, ast.Name) and node.func.id == "len" and node.args else None
    )
    if not isinstance(counted, ast.Call):
        return None
    if isinstance(counted.func, ast.Name) and counted.func.id == "set" and len(counted.args) == 1:
        return f"int(max({module.segment(counted.args[0])}))"
    if not isinstance(counted.func, ast.Attribute) or counted.func.attr != "unique":
        return None
    values = counted.args[0] if counted.args else counted.func.value
    if isinstance(values, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        return f"int({module.segment(values)}.max())"
    return f"int(({module.segment(values)}).max())"


def set_to(count: Count, old: int, new: int) -> list[Edit]:
    """Edits that give a literal count a new value; none where the code does not spell the old one."""
    node = count.place.node
    if isinstance(node, ast.Constant) and node.value == old and not isinstance(node.value, bool):
        return [replaced(count.place.module, node, like(count.text, new))]
    return []
