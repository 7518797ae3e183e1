"""Why a loss carries no graph: gradient mode off where it was computed, or a cut between it and the parameters."""

from __future__ import annotations

from firstcause.specialists.examination import Examination, Facts

# Ops that end a graph by what they are.
CUTS = frozenset({"detach", "detach_", "alias_copy"})
# As many as a replay records behind a failure.
MOST_OPS = 400
WHOLE = frozenset({"int64", "int32", "int16", "int8", "uint8", "bool"})


def loss_op(examination: Examination, graph: Facts) -> Facts | None:
    """The op that made the first root without a graph."""
    root = next((r for r in graph["backwards"][-1]["roots"] if not r["requires_grad"]), None)
    return examination.op(root.get("made_by")) if root is not None else None


def behind(examination: Examination, op: Facts) -> list[Facts]:
    """The ops of the pass from which an op has its inputs, nearest first, itself included."""
    return [op, *examination.behind(op["inputs"], MOST_OPS)]


def trained(ops: list[Facts]) -> list[Facts]:
    """The inputs of ops that are leaves with requires_grad, the parameters above all."""
    return [i for op in ops for i in op["inputs"] if i.get("trained")]


def has_graph(examination: Examination, given: Facts) -> bool:
    """Whether an input of an op required gradients, as the ops behind it tell."""
    queue, seen = [given], set[int]()
    while queue and len(seen) < MOST_OPS:
        current = queue.pop()
        if current.get("trained"):
            return True
        op = examination.op(current.get("made_by"))
        if op is None or current["made_by"] in seen:
            continue
        seen.add(current["made_by"])
        if op["grad"] and not ends_graph(op):
            queue += op["inputs"]
    return False


def ends_graph(op: Facts) -> bool:
    return op["op"] in CUTS or op.get("dtype") in WHOLE


def cut(examination: Examination, op: Facts) -> Facts | None:
    """The nearest op behind the loss whose input had a graph and whose result has none."""
    for current in behind(examination, op):
        had_graph = any(has_graph(examination, given) for given in current["inputs"])
        if had_graph and (not current["grad"] or ends_graph(current)):
            return current
    return None


def round_trip(examination: Examination, graph: Facts, op: Facts) -> Facts | None:
    """Values that left a tensor with a graph and came back without one, behind the loss."""
    numbers = {o["number"] for o in behind(examination, op)}
    return next((r for r in graph["returns"] if r["number"] in numbers), None)


def switch_before(graph: Facts, number: int) -> Facts | None:
    """The switch of gradient mode in force at an op, where the pass itself made one."""
    found = [s for s in graph["mode"]["switches"] if s["before_op"] <= number]
    return found[-1] if found else None
