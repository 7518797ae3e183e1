# slow
# expect-exit: 143
"""The process becomes a shell, which ends by a signal of its own."""
import os

for step in range(2):
    print(step, flush=True)
os.execvp("sh", ["sh", "-c", "echo shell; kill -TERM $$"])
