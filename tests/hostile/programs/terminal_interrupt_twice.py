# terminal: \x03
# terminal: \x03
# expect-exit: 130
"""The first Ctrl-C asks for a checkpoint, the second one ends the program; each reaches it once."""
import os
import signal
import threading
import time

caught = []


def save(number, frame):
    caught.append(number)
    if len(caught) == 1:
        threading.Timer(0.5, os.write, (1, b"saved; ready\n")).start()
    else:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise KeyboardInterrupt


signal.signal(signal.SIGINT, save)
# Said while the main thread sleeps already.
threading.Timer(0.3, os.write, (1, b"ready\n")).start()
try:
    for step in range(9):
        time.sleep(5)
finally:
    print("caught", len(caught), flush=True)
