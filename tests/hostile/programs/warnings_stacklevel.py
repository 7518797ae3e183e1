"""Warnings that point one and two frames up, also past the bottom of the stack."""
import warnings


warnings.simplefilter("always")


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


def train_step():
    simulation.step()
    for level in (1, 2, 3):
        warnings.warn(f"in a function, level {level}", stacklevel=level)


simulation = Simulation()
for step in range(2):
    train_step()
    for level in (1, 2, 3):
        warnings.warn(f"at module level, level {level}", DeprecationWarning, stacklevel=level)
warnings.simplefilter("default")
for step in range(3):
    train_step()
print(sorted(str(key) for key in __warningregistry__))
print(warnings.filters)
