# launch: python -c "exec(open('command_string.py').read()); print(__name__, globals().get('__file__'), train())" extra
"""The program is given with -c."""
import sys

print(sys.argv, sys.path[0], sys.orig_argv[1:])


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


def train():
    simulation = Simulation()
    for _ in range(3):
        total = simulation.step()
    return total
