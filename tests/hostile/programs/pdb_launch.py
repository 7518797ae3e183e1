# launch: python -m pdb -c continue {file}
# stdin: b 16\nc\nw\np simulation.total\nn\nn\nq\n
"""Run under pdb, which compiles the script itself and stops in the loop when it is run again."""


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


simulation = Simulation()
for step in range(2):
    total = simulation.step()
    print(step, total)
