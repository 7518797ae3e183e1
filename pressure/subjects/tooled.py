"""What an agent says that adds nothing of its own: the answers of the product's tools, put into the outcome."""

from __future__ import annotations

import io
import json
import re
from typing import Any

from firstcause.triage.conclude import conclude
from firstcause.triage.read import read
from pressure.desk import Desk
from pressure.fixture import PROGRAM
from pressure.outcome import block
from pressure.scenario import Scenario


def triaged(desk: Desk, scenario: Scenario) -> str:
    """The outcome that triage leads to; through the server where the arm has one."""
    if desk.server is not None:
        desk.call("triage", {"text": scenario.says})
    found = conclude(read(io.BytesIO(scenario.says.encode())))
    asked = found.question or ""
    if not asked and found.action == "need-error":
        asked = "What is the whole text of the error?"
    return block(found.routes, asked, (*found.gather, *(s.confirms for s in found.suspicions)))


def case_through(desk: Desk) -> str:
    """The case from its opening to its verification, each call the one that the answer before names."""
    if desk.server is None:
        return block(cause="not established: no tools here")
    said = desk.call("open_case", {"script": PROGRAM})
    cause = re.search(r"established: ([a-z0-9-]+) at (\S+)", said)
    if cause is None:
        return block(cause="nothing is wrong" if "no case is needed" in said else "not established")
    for tool in ("propose_diagnosis", "request_approval", "apply_fix", "verify_fix"):
        arguments: dict[str, Any] = {"cause": cause[1]} if tool == "propose_diagnosis" else {}
        said = desk.call(tool, arguments)
    return block(do=(f"apply_fix at {cause[2]}",), cause=f"{cause[2]}: {cause[1]}; {json.dumps(said[:200])}")
