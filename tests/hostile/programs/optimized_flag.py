# launch: python -OO -B -u -s {file}
"""A docstring that is stripped, asserts that are not run, no byte code files."""
from __future__ import annotations

import sys


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


def train(rate: no_such_name) -> str:
    """Stripped."""
    simulation = Simulation()
    for step in range(3):
        assert step < 1, "asserts are off"
        if __debug__:
            print("debug")
        total = simulation.step(rate)
    return total


print(train(0.05), train.__doc__, __doc__, train.__annotations__, annotations, sys.flags.optimize)
