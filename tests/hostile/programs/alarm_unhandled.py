# slow
# send: SIGALRM
# expect-exit: 142
"""A signal that nobody expects, with its default action."""
import time

print("ready", flush=True)
time.sleep(20)
