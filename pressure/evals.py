"""The scenarios in the layout of agentskills.io, so that other runners can take them: evals/evals.json for each skill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firstcause.skills.knowledge import ROUTER
from pressure.fixture import PROGRAM, Fixture
from pressure.outcome import FORM
from pressure.scenario import Scenario, scenarios


def skill_of(scenario: Scenario) -> str:
    """The name of the skill by which a scenario is to be met: that of its first specialist, or the router."""
    return f"{ROUTER}-{scenario.area[0]}" if scenario.area else ROUTER


def evals(name: str) -> dict[str, Any]:
    """The content of one skill's evals.json: prompt, what is expected, files, and assertions in words."""
    own = [one for one in scenarios().values() if skill_of(one) == name]
    return {"skill_name": name, "evals": [_eval(number, one) for number, one in enumerate(own, 1)]}


def _eval(number: int, scenario: Scenario) -> dict[str, Any]:
    program = bool(scenario.fixture)
    return {
        "id": number,
        "name": scenario.id,
        "prompt": f"{scenario.says}\n\n{FORM}",
        "expected_output": "; ".join(scenario.must),
        "files": [f"evals/files/{scenario.fixture}/{PROGRAM}"] if program else [],
        "assertions": [*scenario.must, *(f"It does not: {text}" for text in scenario.must_not)],
    }


def export(folder: Path) -> int:
    """Write evals/evals.json and the programs of every skill that has scenarios; how many scenarios."""
    names = sorted({skill_of(one) for one in scenarios().values()})
    for name in names:
        place = folder / name / "evals"
        place.mkdir(parents=True, exist_ok=True)
        content = evals(name)
        (place / "evals.json").write_text(
            json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        for one in scenarios().values():
            if skill_of(one) == name and one.fixture:
                files = place / "files" / one.fixture
                files.mkdir(parents=True, exist_ok=True)
                Fixture(one.fixture).lay_out(files)
    return sum(len(evals(name)["evals"]) for name in names)
