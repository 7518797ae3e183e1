"""Print the source line behind a piece of evidence again, and whether it is still the one that was read.

Needs Python alone. Ends with 0 where it is, else with 1.
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
    print(f"evidence: {probe['text']}")
    site = probe["site"]
    if site is None:
        print("it names no line")
        return 1
    with open(os.path.join(os.path.dirname(here), probe["run"], "run.json"), encoding="utf-8") as file:
        path = os.path.join(json.load(file)["folder"], site["file"])
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    now = lines[site["line"] - 1].strip() if site["line"] <= len(lines) else ""
    print(f"{site['file']}:{site['line']}: {now}")
    same = site["text"].strip() in now
    print("that is the line of the evidence" if same else f"the line of the evidence was: {site['text']}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
