# send: SIGTERM
# expect-exit: 143
"""SIGTERM from outside, and no handler: the process dies of it."""
import time

print("ready", flush=True)
time.sleep(20)
