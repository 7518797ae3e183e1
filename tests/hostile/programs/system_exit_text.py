# expect-exit: 1
"""SystemExit with a text that is no ASCII, raised through a loop that is watched."""


class Simulation:
    def step(self, number):
        if number == 2:
            raise SystemExit("stopp: é ✓ \udcff")


simulation = Simulation()
for number in range(4):
    print(number, simulation.step(number))
