# env: PYTHONPATH=lib PYTHONDONTWRITEBYTECODE=1
"""The user has a PYTHONPATH with a sitecustomize of their own on it."""
import os
import subprocess
import sys

print(sys.started_by, "sitecustomize" in sys.modules, sys.argv_at_start)
import sitecustomize

print(sitecustomize.__file__.rsplit("/", 2)[-2:], [p.rsplit("/", 1)[-1] for p in sys.path[:2]])


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


simulation = Simulation()
for _ in range(3):
    print(simulation.step())
code = "import sys; print(sys.started_by, len(sys.path))"
for environment in (None, {**os.environ, "PYTHONPATH": "lib"}, {"PYTHONPATH": "lib"}):
    print(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True))
