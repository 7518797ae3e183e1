"""The script starts other Pythons: one that trains, with its output captured, one with -I and one by execv."""
import os
import subprocess
import sys

if len(sys.argv) == 1:
    for command in (["worker.py", "a"], ["-u", "worker.py", "b"], ["-I", "worker.py", "c"], ["-m", "worker", "d"], ["missing.py"]):
        child = subprocess.run([sys.executable, *command], capture_output=True, text=True, close_fds=True)
        print(command, child.returncode, child.stdout, child.stderr.replace(sys.executable, "python"))
    sys.stdout.flush()
    os.environ["AGAIN"] = "1"
    os.execv(sys.executable, [sys.executable, __file__, "again"])
print(sys.argv[1:], os.environ["AGAIN"])
