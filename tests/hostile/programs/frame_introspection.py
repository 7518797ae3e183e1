"""The program looks at its own stack: depth, names, lines, locals, and where the bottom is."""
import inspect
import sys
import traceback


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


def depth_left(n=0):
    try:
        return depth_left(n + 1)
    except RecursionError:
        return n


def train_step(x):
    total = simulation.step(x)
    print([(f.function, f.lineno, f.code_context, f.index) for f in inspect.stack()])
    return total


simulation = Simulation()
for step in range(2):
    total = train_step(0.1)
    print(sys._getframe().f_lineno, sys._getframe().f_back, len(traceback.extract_stack()), step)
    traceback.print_stack()
try:
    sys._getframe(1)
except ValueError as error:
    print(error)
print(len(inspect.stack()), inspect.currentframe().f_code.co_name, depth_left(), sys.getrecursionlimit())
