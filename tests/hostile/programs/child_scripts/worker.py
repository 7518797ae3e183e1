import sys


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


simulation = Simulation()
for _ in range(3):
    simulation.step()
print(sys.argv[1:], simulation.total, __name__, __file__.rsplit("/", 1)[-1])
sys.exit(3)
