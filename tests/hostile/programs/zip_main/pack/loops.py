class Simulation:
    count = 0

    def step(self):
        self.count += 1


def run():
    simulation = Simulation()
    for _ in range(3):
        simulation.step()
    return simulation.count, __file__.rsplit("/", 2)[-2:], type(__loader__).__name__
