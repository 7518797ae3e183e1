# expect-exit: 139
# scrub: Extension modules: .*
"""A crash in C inside the loop, with faulthandler's own stack on stderr."""
import ctypes
import faulthandler
import resource


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
faulthandler.enable(all_threads=False)


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


def crash(step):
    if step == 2:
        faulthandler.dump_traceback(all_threads=False)
        ctypes.string_at(0)


simulation = Simulation()
for step in range(5):
    print(step, simulation.step(), flush=True)
    crash(step)
