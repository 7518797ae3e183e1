# env: MY_OWN=1 PYTHONWARNINGS=default::UserWarning
"""The environment, apart from the names through which children are reached, and the search path."""
import hashlib
import os
import sys

for name, value in sorted(os.environ.items()):
    if name != "PYTHONPATH" and not name.startswith("FIRSTCAUSE"):
        # Digests, so that a difference in a log shows no secret; each run has a TMPDIR of its own.
        own = name in ("TMPDIR", "HOME")
        print(name, "" if own else hashlib.sha256(value.encode()).hexdigest()[:12])
print(sys.path[1:], sys.warnoptions)
print([p for p in os.environ.get("PYTHONPATH", "").split(":") if p and "firstcause" not in p])
