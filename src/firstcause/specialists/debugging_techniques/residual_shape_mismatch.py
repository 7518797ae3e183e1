"""residual-shape-mismatch: a block adds its input to its output, and the two differ in shape."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refusals import settle_refusal

CAUSE = "residual-shape-mismatch"
SUMS = frozenset({"add", "add_", "sub", "sub_", "rsub"})
# Ops that leave a tensor the same values in another wrapping.
SAME = frozenset({"alias", "detach", "view", "_to_copy", "clone", "native_dropout", "dropout"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in SUMS and len(tensors_of(refused)) == 2


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    measured = measure(examination)
    if measured is None:
        return settle_refusal(
            hypothesis, examination, False, "neither operand of the sum is the input of the block", {}
        )
    shapes = f"its input {measured['skip_shape']} to its output {measured['branch_shape']}"
    text = f"{measured['block']} adds {shapes}: the skip path is not projected"
    return settle_refusal(hypothesis, examination, True, text, measured)


def tensors_of(refused: Facts) -> list[Facts]:
    return [o for o in refused["operands"] if isinstance(o, dict) and "shape" in o]


def measure(examination: Examination) -> Facts | None:
    """The block around the sum, and which operand is its input; None where the sum is no skip connection."""
    refused = examination.refused or {}
    running = [m for m in refused.get("modules") or [] if m.get("inputs")]
    if not running:
        return None
    block = running[-1]
    inputs = {i["made_by"] for i in block["inputs"] if "made_by" in i}
    names = {i["input"] for i in block["inputs"] if "input" in i}
    one, other = tensors_of(refused)
    for skip, branch in ((other, one), (one, other)):
        if (
            is_input(examination, skip, inputs, names)
            and "made_by" in branch
            and comes_from(examination, branch, inputs, names)
        ):
            return {
                "block": block["path"],
                "class": block["class"],
                "skip_shape": skip["shape"],
                "branch_shape": branch["shape"],
                "depth": len(running),
            }
    return None


def is_input(examination: Examination, operand: Facts, inputs: set[int], names: set[str]) -> bool:
    """Whether an operand is the block's input itself, by whatever name."""
    for _ in range(6):
        if operand.get("made_by") in inputs or operand.get("input") in names:
            return True
        op = examination.op(operand.get("made_by"))
        if op is None or op["op"] not in SAME or not op["inputs"]:
            return False
        operand = op["inputs"][0]
    return False


def comes_from(examination: Examination, operand: Facts, inputs: set[int], names: set[str]) -> bool:
    """Whether an operand was computed from the block's input."""
    queue = [operand]
    seen: set[int] = set()
    while queue and len(seen) < 200:
        current = queue.pop()
        if current.get("made_by") in inputs or current.get("input") in names:
            return True
        op = examination.op(current.get("made_by"))
        if op is not None and current["made_by"] not in seen:
            seen.add(current["made_by"])
            queue.extend(op["inputs"])
    return False
