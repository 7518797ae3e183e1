"""A module with a loop that steps is written, imported, changed, reloaded, and imported by another name."""
import importlib
import importlib.util
import sys

text = '''"""Generated."""
def train(simulation):
    for _ in range(2):
        total = simulation.step({size})
    return total, __name__, train.__code__.co_firstlineno
'''


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


sys.dont_write_bytecode = True
simulation = Simulation()
open("generated.py", "w").write(text.format(size=1))
import generated

print(generated.train(simulation), generated.__doc__)
open("generated.py", "w").write("# changed\n" + text.format(size=1000))
print(importlib.reload(generated).train(simulation), generated.__spec__.origin.rsplit("/", 1)[-1])
spec = importlib.util.spec_from_file_location("other", "generated.py")
other = importlib.util.module_from_spec(spec)
spec.loader.exec_module(other)
print(other.train(simulation), spec.loader.get_source("other") == open("generated.py").read(), type(spec.loader).__name__)
print(importlib.util.find_spec("generated").origin.rsplit("/", 1)[-1], generated.__loader__.is_package("generated"))
print(type(generated.__loader__).__name__, type(generated.__spec__.loader).__name__, sorted(vars(generated)))
