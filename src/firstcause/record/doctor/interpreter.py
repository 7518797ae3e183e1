"""What a child sees that is started as `firstcause run` would start the program: the hook, torch, a fork of its threads."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import Any

from firstcause.record.supervise import launch

SECONDS = 90.0
CHILD = """
import sys
sys.path[:] = [p for p in sys.path if p] + [{home!r}]
import builtins, json, os, time

def say(**facts):
    print(json.dumps(facts), flush=True)

say(version=".".join(map(str, sys.version_info[:3])), python=sys.executable, hook=hasattr(builtins, "__fc_mark__"))
try:
    import torch
except BaseException as error:
    say(no_torch=" ".join((type(error).__name__ + ": " + str(error)).split()))
    sys.exit()
say(torch=torch.__version__, cuda=torch.version.cuda, threads=torch.get_num_threads())
torch.set_num_threads(max(2, torch.get_num_threads()))
given = torch.ones(512, 512)
(given @ given).sum()
child = os.fork()
if child == 0:
    torch.set_num_threads(1)
    os._exit(0 if float((given @ given).sum()) == 512.0 ** 3 else 1)
end = time.monotonic() + 20
while time.monotonic() < end:
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        say(fork="works" if status == 0 else "ended with status %d" % status)
        break
    time.sleep(0.02)
else:
    os.kill(child, 9)
    os.waitpid(child, 0)
    say(fork="still computed after 20 s")
"""


def look() -> dict[str, Any]:
    """The facts that the child told, as many as it came to tell, and under ``why`` why it told no more."""
    python = launch.python()
    seen: dict[str, Any] = {"python": python}
    with tempfile.TemporaryDirectory(prefix="firstcause-") as folder:
        code = CHILD.format(home=os.path.dirname(launch.PACKAGE))
        try:
            done = subprocess.run(
                [python, "-c", code],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
                env=launch.environment(folder, {}),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return seen | {"why": str(error)}
        for line in done.stdout.splitlines():
            seen |= _facts(line)
        said = _log(folder) or (done.stderr.strip().splitlines() or [""])[-1]
    return seen | ({"why": said} if said else {})


def _facts(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        # What a sitecustomize of the user's prints.
        return {}
    return found if isinstance(found, dict) else {}


def _log(folder: str) -> str:
    """Our own failure at start-up."""
    try:
        with open(os.path.join(folder, "internal-errors.log"), encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""
