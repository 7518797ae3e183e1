"""Run the failing step again, in a fresh sealed process, and print the first bad value or the refused op again.

Ends with 0 where it is that of the evidence, with 1 where it is not or where the step cannot be repeated.
"""

# ruff: noqa: T201 - a script of its own, copied into a case
from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


def described(birth: dict[str, Any]) -> str:
    """One line on a birth: the op, what it made, where, from what."""
    place = birth.get("site") or {}
    where = f" at {os.path.basename(str(place['file']))}:{place['line']}" if place else ""
    sign = "".join(birth.get("signs") or []) if birth["kind"] == "inf" else ""
    return f"{sign}{birth['kind']} made by {birth['op']}{where}, element {birth['element']}, from {birth['operands_at']}"


def alone(values: dict[str, Any]) -> str:
    """The op on the recorded operands of the one element, where both are known and torch can be loaded."""
    numbers, operands = values.get("operands_at") or [], values.get("operands") or []
    elementwise = (
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "rsqrt",
        "exp",
        "div",
        "reciprocal",
        "pow",
        "acos",
        "asin",
    )
    if values.get("op") not in elementwise or not numbers or any(n is None for n in numbers):
        return ""
    # By name, since the case room itself runs without torch.
    torch: Any = importlib.import_module("torch")
    kinds = [o.get("dtype") if isinstance(o, dict) else None for o in operands]
    given = [
        torch.tensor(float(n), dtype=getattr(torch, k)) if k else float(n)
        for n, k in zip(numbers, [*kinds, *[None] * len(numbers)], strict=False)
    ]
    made = getattr(torch, values["op"])(*given)
    return f"torch.{values['op']}({', '.join(f'{float(n):g}' for n in numbers)}) is {float(made):g}"


def main() -> int:
    here = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(here, encoding="utf-8") as file:
        probe: dict[str, Any] = json.load(file)
    try:
        from firstcause.lab.again import replay_fresh
        from firstcause.record.folder import RunFolder
    except ModuleNotFoundError:
        os.execv(probe["python"], [probe["python"], os.path.abspath(__file__)])
    folder = RunFolder(os.path.join(os.path.dirname(here), probe["run"]))
    failure = next(f for f in folder.failures() if f["name"] == probe["failure"])
    values = probe["values"]
    print(f"evidence: {probe['text']}")
    result = replay_fresh(folder, failure, 300.0)
    trace = result.get("trace") or {}
    if not trace:
        print(f"the step could not be repeated: {result.get('why')}")
        return 1
    print(
        f"step {failure['step']} repeated {'exactly' if result.get('exact') else 'not exactly: ' + str(result.get('why'))}"
    )
    recorded = (failure.get("replay") or {}).get("trace") or {}
    refused = trace.get("refused") or {}
    if refused.get("op"):
        print(f"measured now: {refused['op']} refused its input: {refused['error'].splitlines()[0]}")
        same = refused["op"] == (recorded.get("refused") or {}).get("op")
        same = same and refused["error"] == recorded["refused"]["error"]
    else:
        births = trace.get("births") or []
        keys = [k for k in ("op", "phase", "element", "operands_at") if k in values]
        matching = next((b for b in births if all(_same(b.get(k), values[k]) for k in keys)), None)
        for birth in [matching] if matching else births[:1]:
            print(f"measured now: {described(birth)}")
        if not births:
            print("measured now: every value of the step is finite")
        same = matching is not None if keys else _same(births, recorded.get("births") or [])
    if text := alone(values):
        print(text)
    print("that is the figure of the evidence" if same else "that is not the figure of the evidence")
    return 0 if same else 1


def _same(one: Any, other: Any) -> bool:
    # Read from JSON, "nan" is a text; two of them are the same figure.
    return json.dumps(_plain(one)) == json.dumps(_plain(other))


def _plain(value: Any) -> Any:
    from firstcause.schema import to_plain

    return to_plain(value)


if __name__ == "__main__":
    sys.exit(main())
