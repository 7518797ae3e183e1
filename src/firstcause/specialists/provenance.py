"""Where a property of a refused operand arose: the first call, array, parameter or input of the step that has it."""

from __future__ import annotations

from collections.abc import Callable

from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refused_calls import behind


def first_of(examination: Examination, operand: Facts, has: Callable[[Facts], bool]) -> Facts:
    """The first ancestor of ``operand`` that ``has`` the property, as ``fix/patches`` reads it.

    ``kind`` is ``call`` (made by a call of the step), ``state`` (a parameter, buffer or attribute) or ``data``.
    """
    current = operand
    for _ in range(200):
        made = behind(examination, current.get("made_by"))
        if made is None:
            return _leaf(examination, current)
        inherited = [i for i in made["inputs"] if not i.get("array") and has(i) and i.get("shape") != []]
        if not inherited:
            inherited = [i for i in made["inputs"] if not i.get("array") and has(i)]
        if not inherited:
            return {"kind": "call", "function": made["function"], "shape": made.get("shape")} | {
                "at": examination.place(made.get("site"))
            }
        # What is part of the module comes before the step's data: it is the same in all steps.
        current = min(inherited, key=lambda i: "parameter" not in i)
    return _leaf(examination, current)


def _leaf(examination: Examination, operand: Facts) -> Facts:
    bound = operand.get("bound") or {}
    shape = operand.get("shape")
    if "parameter" in operand:
        path = str(operand["parameter"])
        module, _, name = path.rpartition(".")
        owners = examination.trace.get("owners") or {}
        return {
            "kind": "state",
            "path": path,
            "class_name": owners.get(module, ""),
            "name": name,
            "shape": shape,
        }
    place = examination.place({k: bound[k] for k in ("file", "line", "text")} if bound else None)
    text = str(bound.get("text_there") or operand.get("input") or "")
    if "." in text and "input" not in operand:
        return {
            "kind": "state",
            "path": text,
            "class_name": "",
            "name": text.rpartition(".")[2],
            "at": place,
            "shape": shape,
        }
    return {"kind": "data", "name": text, "at": place, "shape": shape}


def tell(examination: Examination, birth: Facts) -> str:
    """A birth in words."""
    if birth["kind"] == "call":
        at = birth.get("at") or {}
        return f"what {birth['function']} makes at line {at.get('line')}"
    if birth["kind"] == "state":
        return f"`{birth['path']}`, which was made before the step"
    return (
        f"`{birth['name']}`, which the step was given"
        if birth.get("name")
        else "a tensor that the step was given"
    )
