# slow
# send: SIGHUP group
# expect-exit: 3
"""What is sent to the whole process group reaches the program once, not once more through its parent."""
import signal
import sys
import time

heard = []
signal.signal(signal.SIGHUP, lambda number, frame: heard.append(number))
print("ready", flush=True)
for _ in range(6):
    time.sleep(0.1)
print(len(heard), [signal.Signals(n).name for n in heard])
sys.exit(3)
