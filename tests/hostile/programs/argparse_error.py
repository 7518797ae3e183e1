# launch: python {file} --lr fast --naïve=ü
# expect-exit: 2
"""A usage message with the script's name, and arguments that are not ASCII."""
import argparse


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--lr", type=float, default=0.05, help="learning rate")
parser.print_help()
options = parser.parse_args()
simulation = Simulation()
for _ in range(3):
    print(simulation.step(options.lr))
