"""Whether each fixture is one: its fault fires, its repair passes, and hiding the symptom does not."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from pressure.checks import End, fixed, root_cause
from pressure.fixture import PROGRAM, Fixture
from pressure.outcome import Outcome
from pressure.scenario import Scenario, bank
from pressure.symptom_patch import symptom_patch
from pressure.transcript import Transcript


class Checked(NamedTuple):
    """A fixture: does its fault fire, does its repair pass, what does the symptom patch look like, and by what it falls."""

    scenario: str
    fixture: str
    fires: bool
    repaired: bool
    looks_right: bool
    falls_by: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether it tells a repair from a hidden symptom."""
        return self.fires and self.repaired and bool(self.falls_by)


def executing() -> list[Scenario]:
    """The scenarios of the bank that have a program."""
    return [one for one in bank() if one.fixture]


def check_fixture(scenario: Scenario) -> Checked:
    """Run the three programs of a fixture."""
    fixture = Fixture(scenario.fixture)
    repair = _ran(fixture, fixture.fixed, scenario)
    hidden = _ran(fixture, symptom_patch(fixture), scenario)
    looks_right = hidden.ran is not None and hidden.ran.code == 0 and hidden.ran.number == hidden.ran.number
    falls = tuple(f"{f.check}: {f.seen}" for f in (*fixed(hidden), *root_cause(hidden)))
    return Checked(
        scenario.id,
        fixture.name,
        fixture.fires,
        not [*fixed(repair), *root_cause(repair)],
        looks_right,
        falls,
    )


def _ran(fixture: Fixture, program: str, scenario: Scenario) -> End:
    with tempfile.TemporaryDirectory(prefix="pressure-") as name:
        folder = Path(name)
        fixture.lay_out(folder)
        (folder / PROGRAM).write_text(program, encoding="utf-8")
        ran = fixture.run(folder)
    return End(scenario, Transcript(), Outcome(), fixture, program, ran)
