# env: MY_OWN=1 PYTHONWARNINGS=default::UserWarning
"""The environment, apart from the names through which children are reached."""
import hashlib
import os
import sys

names = sorted(name for name in os.environ if name != "PYTHONPATH" and not name.startswith("FIRSTCAUSE"))
values = hashlib.sha256(repr([os.environ[name] for name in names]).encode()).hexdigest()
print(names, values)
print(sys.path[1:], sys.warnoptions)
print([p for p in os.environ.get("PYTHONPATH", "").split(":") if p and "firstcause" not in p])
