# send: SIGQUIT
# expect-exit: 3
"""Ctrl-backslash prints the stack by faulthandler, and the program goes on."""
import faulthandler
import os
import signal
import sys
import threading
import time

faulthandler.register(signal.SIGQUIT, all_threads=False)


class Simulation:
    def step(self):
        time.sleep(1.2)


simulation = Simulation()
# Said while the main thread sleeps already.
threading.Timer(0.3, os.write, (1, b"ready\n")).start()
for _ in range(1):
    simulation.step()
sys.exit(3)
