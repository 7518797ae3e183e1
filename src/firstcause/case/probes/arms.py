"""Run the counterfactual behind a piece of evidence again, each arm in a sealed process, and print its figures.

Ends with 0 where every arm ends as it did, its losses included where they are part of the evidence, else with 1.
"""

# ruff: noqa: T201 - a script of its own, copied into a case
from __future__ import annotations

import json
import math
import os
import statistics
import sys
from typing import Any


def main() -> int:
    here = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(here, encoding="utf-8") as file:
        probe: dict[str, Any] = json.load(file)
    try:
        from firstcause.lab.counterfactual import Arm, Lab, Ran
        from firstcause.record.folder import RunFolder
    except ModuleNotFoundError:
        os.execv(probe["python"], [probe["python"], os.path.abspath(__file__)])
    folder = RunFolder(os.path.join(os.path.dirname(here), probe["run"]))
    failure = next((f for f in folder.failures() if f["name"] == probe["failure"]), {})
    lab = Lab(folder, failure, 600.0)
    print(f"evidence: {probe['text']}")
    ran: dict[str, Ran] = {}
    arms = probe["values"]["arms"]
    for plan in [x["plan"] for i, x in enumerate(arms) if x["plan"] not in [y["plan"] for y in arms[:i]]]:
        mine = [Arm(x["name"], x["change"], x["settings"]) for x in arms if x["plan"] == plan]
        if plan["from"] == "failure":
            ran |= lab.from_failure(mine)
        else:
            ran |= lab.from_start(mine, plan["steps"], plan["after"])
    compared: list[bool] = []
    for name, outcome in ran.items():
        finite = [abs(x) for x in outcome.losses if math.isfinite(x)]
        tail = statistics.median(outcome.losses[-max(3, len(outcome.losses) // 5) :]) if finite else 0.0
        figures = f", largest loss {max(finite):.3g}, last {tail:.3g}" if finite else ""
        raised = outcome.exception or {}
        said = f"{raised['type']}: {raised['message']}" if raised else outcome.why
        why = f" ({said})" if said else ""
        print(f"measured now: {name}: {outcome.ended} after {len(outcome.rows)} steps{figures}{why}")
        kept = probe["values"].get(name)
        if outcome.ended == "lost":
            compared.append(False)
        elif isinstance(kept, dict) and kept.get("losses"):
            now = [round(x, 5) for x in outcome.losses]
            compared.append(all(_near(x, now) for x in kept["losses"]))
    if not compared:
        print("the evidence holds no losses to compare them with")
        return 0
    print(
        "these are the figures of the evidence"
        if all(compared)
        else "these are not the figures of the evidence"
    )
    return 0 if all(compared) else 1


def _near(kept: Any, now: list[float]) -> bool:
    if isinstance(kept, str):
        return any(not math.isfinite(x) for x in now)
    return any(abs(kept - x) <= 1e-4 * max(abs(kept), 1.0) for x in now)


if __name__ == "__main__":
    sys.exit(main())
