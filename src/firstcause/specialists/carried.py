"""A tensor that came into the pass with the graph of an earlier time: by which name, from when, and used where."""

from __future__ import annotations

from firstcause.specialists.examination import Examination, Facts

EARLIER = "an earlier pass"


def borrowed(facts: Facts) -> Facts | None:
    """The older tensor through which the failing node is reached; None where none was seen."""
    found: list[Facts] = [b for b in facts["borrowed"] if b["reaches"]]
    return found[0] if found else None


def is_state(facts: Facts) -> bool:
    """Whether each pass makes it anew from the one before: a recurrent state, no constant part and no running total."""
    held = borrowed(facts)
    if held is None or facts["node"]["age"] != EARLIER:
        return False
    return held["kept"] is False and held["shape"] != []


def tell(examination: Examination, facts: Facts) -> str:
    """One sentence: the node that refused, how old it is, and what brought it into this pass."""
    node, held = facts["node"], borrowed(facts)
    text = (
        f"{node['name']} was made in {node['age']}"
        if node["age"] == EARLIER
        else f"{node['name']} was made {node['age']}"
    )
    if held is None:
        return text
    name = f"`{held['held'][0]['expression']}` " if held["held"] else "a tensor "
    return (
        f"{text}: {name}{held['shape']}, used at {examination.site(held['site'])}, still carries that graph"
    )


def facts(examination: Examination, graph: Facts) -> Facts:
    """What a fix needs: who holds the older tensor, where it is used, and the loop."""
    held = borrowed(graph) or {}
    unit = examination.failure.get("unit") or {}
    given: Facts = {
        "age": graph["node"]["age"],
        "holders": held.get("held") or [],
        "use": examination.place(held.get("site")),
        "backward": examination.place(graph["backwards"][-1]["site"]),
        "root": graph["node"].get("name"),
    }
    if unit.get("file"):
        given["loop"] = examination.place(unit)
    return given
