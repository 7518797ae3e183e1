"""Try the patch of a piece of evidence again, in a throw-away copy, and print how the program ended there.

Ends with 0 where it passes or fails as it did, else with 1.
"""

# ruff: noqa: T201 - a script of its own, copied into a case
from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> int:
    here = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(here, encoding="utf-8") as file:
        probe: dict[str, Any] = json.load(file)
    try:
        from firstcause.fix.verification import try_in_copy
        from firstcause.record.folder import RunFolder
    except ModuleNotFoundError:
        os.execv(probe["python"], [probe["python"], os.path.abspath(__file__)])
    folder = RunFolder(os.path.join(os.path.dirname(here), probe["run"]))
    print(f"evidence: {probe['text']}")
    values = probe["values"]
    outcome = try_in_copy(
        folder.path, folder.run().folder, values.get("diff", ""), 600.0, silent=values.get("silent")
    )
    print(f"measured now: {outcome.text}")
    same = outcome.passed == probe["supports"]
    print("it ends as the evidence says" if same else "it does not end as the evidence says")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
