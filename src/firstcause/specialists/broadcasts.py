"""An earlier op that broadcast both of its operands: the usual reason why a later shape is not what was meant."""

from __future__ import annotations

from firstcause.specialists.examination import Examination, Facts

ELEMENTWISE = frozenset(
    {"add", "sub", "mul", "div", "rsub", "maximum", "minimum", "pow", "where", "add_", "sub_", "mul_", "div_"}
)


def behind(examination: Examination, operand: Facts) -> tuple[Facts, list[list[int]]] | None:
    """The nearest op behind ``operand`` whose result has the shape of neither input, with the inputs' shapes.

    (B,) with (B, 1) gives (B, B) without a word. Where one input has the shape of the result, the broadcast is
    the ordinary one, of a bias or a mask.
    """
    for op in examination.behind([operand]):
        shapes = [list(i["shape"]) for i in op["inputs"]]
        result = op.get("shape")
        if op["op"] in ELEMENTWISE and len(shapes) == 2 and result and result not in shapes:
            return op, shapes
    return None
