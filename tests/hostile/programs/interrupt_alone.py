# send: SIGINT
# expect-exit: 130
"""A scheduler sends Ctrl-C's signal to the process that it has started, and to no other."""
import os
import threading
import time

# Said while the main thread sleeps already.
threading.Timer(0.3, os.write, (1, b"ready\n")).start()
try:
    time.sleep(20)
except KeyboardInterrupt:
    print("caught once", flush=True)
    time.sleep(0.4)
    raise
