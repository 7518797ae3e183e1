# slow
# send: SIGHUP
# expect-exit: 129
"""The connection goes, and with it the program."""
import atexit
import time

atexit.register(print, "never printed")
print("ready", flush=True)
time.sleep(20)
