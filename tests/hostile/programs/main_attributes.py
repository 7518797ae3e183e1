"""A script with a loop that steps, and so marked, but without torch."""
import sys


class Simulation:
    count = 0

    def step(self):
        self.count += 1
        return sorted(globals())


simulation = Simulation()
for _ in range(2):
    print(simulation.step(), __name__, __spec__, __package__, __doc__, sep="\n")
print(__file__ == sys.argv[0], globals().get("__cached__"), type(__loader__).__name__, type(__builtins__).__name__)
print(__loader__.get_filename("__main__") == __file__, __loader__.path == __file__, __loader__.name)
print(sys.path[0] == __file__.rsplit("/", 1)[0], len(sys.path), sys.argv[1:], list(globals()))
print([m for m in ("torch", "numpy") if m in sys.modules], sys.modules["__main__"].__dict__ is globals())
print(sys.modules["__main__"].__repr__() == f"<module '__main__' from {__file__!r}>" or sys.modules["__main__"])
