# launch: sh -c "ln -s {file} link.py; cat {file} | python - from-stdin; python link.py from-link && python ./{file} && ./no-such-command"
# expect-exit: 127
"""A shell starts three Pythons: from a pipe, through a symbolic link, by a dotted path; then it fails."""
import sys

print(sys.argv, sys.path[0].rsplit("/", 1)[-1], globals().get("__file__"), __name__, __spec__)


class Simulation:
    def step(self):
        return sys._getframe().f_back.f_lineno


simulation = Simulation()
for _ in range(2):
    print(simulation.step())
