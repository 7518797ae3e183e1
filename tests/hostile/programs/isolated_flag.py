# launch: python -I {file}
"""An isolated interpreter ignores the environment: it cannot be observed, and runs as it would."""
import sys


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


simulation = Simulation()
for _ in range(3):
    print(simulation.step())
print(sys.path[0] == __file__.rsplit("/", 1)[0], sys.flags.isolated, __spec__)
