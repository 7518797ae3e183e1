# launch: python -i {file}
# stdin: print(step, total)\nprint(sorted(globals()))\n1/0\n
"""After the script, which fails, the interpreter goes on with its names on standard input."""


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


simulation = Simulation()
for step in range(3):
    total = simulation.step()
assert step == 1, "the interpreter goes on after this too"
