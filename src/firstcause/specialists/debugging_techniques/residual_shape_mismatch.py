"""residual-shape-mismatch: a block adds its input to its output, and the two differ in shape."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refusals import settle_refusal
from firstcause.specialists.refused_calls import earlier
from firstcause.specialists.verdicts import inconclusive, nothing_refused

CAUSE = "residual-shape-mismatch"
SUMS = frozenset({"add", "add_", "sub", "sub_", "rsub"})
# Ops that leave a tensor the same values in another wrapping.
SAME = frozenset({"alias", "detach", "view", "_to_copy", "clone", "native_dropout", "dropout"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in SUMS and len(tensors_of(refused)) == 2


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if not propose(examination):
        return nothing_refused(hypothesis, examination)
    measured = measure(examination)
    if measured is None:
        return settle_refusal(
            hypothesis, examination, False, "neither operand of the sum is the input of the block", {}
        )
    shapes = f"its input {measured['skip_shape']} to its output {measured['branch_shape']}"
    how = (
        f"projected by {measured['projection']} to another shape"
        if measured["projection"]
        else "not projected"
    )
    text = f"{measured['block']} adds {shapes}: the skip path is {how}"
    before = earlier(examination)
    if before:
        return inconclusive(hypothesis.cause, f"{text}, but {before}")
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
        same = is_input(examination, skip, inputs, names)
        projection = None if same else projection_of(examination, skip, block["path"], inputs, names)
        if not same and projection is None:
            continue
        if "made_by" in branch and comes_from(examination, branch, inputs, names):
            return {
                "block": block["path"],
                "class": block["class"],
                "skip_shape": skip["shape"],
                "branch_shape": branch["shape"],
                "projection": projection,
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


def projection_of(
    examination: Examination, operand: Facts, block: str, inputs: set[int], names: set[str]
) -> str | None:
    """The one child of the block that makes a shortcut of its input: a 1x1 convolution or one Linear, else None."""
    children: set[str] = set()
    products = 0
    queue, seen = [operand], set[int]()
    while queue:
        current = queue.pop()
        if current.get("made_by") in inputs or current.get("input") in names or "parameter" in current:
            continue
        op = examination.op(current.get("made_by"))
        if op is None or len(seen) > 40:
            return None
        if current["made_by"] in seen:
            continue
        seen.add(current["made_by"])
        inside = op.get("module") or ""
        if inside.startswith(block + "."):
            children.add(inside[len(block) + 1 :].split(".")[0])
        elif op["op"] not in SAME:
            return None
        if op["op"] in ("convolution", "addmm", "mm"):
            products += 1
            weights = [i["shape"] for i in op["inputs"] if "parameter" in i and len(i["shape"]) > 1]
            if op["op"] == "convolution" and any(size != 1 for shape in weights for size in shape[2:]):
                return None
        queue.extend(op["inputs"])
    return f"{block}.{next(iter(children))}" if len(children) == 1 and products == 1 else None


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


def facts(examination: Examination) -> Facts:
    refused = examination.refused or {}
    left, right = (tuple(o["shape"]) for o in tensors_of(refused))
    return examination.place(refused.get("site")) | {"left_shape": left, "right_shape": right}
