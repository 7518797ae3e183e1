# -*- coding: latin-1 -*-
# expect-exit: 1
"""A source file in Latin-1 whose strings and names are not ASCII."""
class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


größe = Simulation()
for schlüssel in ["ä", "üß"]:
    print(schlüssel, ascii(schlüssel), größe.step(), [ascii(n) for n in dir() if not n.isascii()])
    print("äß", größe.step())
raise ValueError("ä")  # ß
