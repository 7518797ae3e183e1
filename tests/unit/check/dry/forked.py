"""Many programs dry, each in a fork of one process that has imported torch: prints a JSON object by name.

``python forked.py FOLDER``: a script ``NAME.py`` each, in a folder of its own.
"""

from __future__ import annotations

import json
import os
import sys
import time

import torch
import torch.utils.data.distributed  # noqa: F401

from firstcause.check.dry.child import __main__ as child
from firstcause.check.dry.child import prepared, seccomp  # noqa: F401


def run(folder: str) -> list[dict]:
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        os.close(reading)
        os.chdir(folder)
        job = {
            "script": os.path.join(folder, "train.py"),
            "arguments": [],
            "folder": folder,
            "search": [],
            "scratch": folder + ".layer",
            # Loops are cut by shares of it, and beside other tests a step takes long.
            "seconds": 60,
            "until": time.monotonic() + 300,
            "launched": False,
            "channel": writing,
        }
        child.main(json.dumps(job))
    os.close(writing)
    told = b""
    while block := os.read(reading, 1 << 16):
        told += block
    os.close(reading)
    os.waitpid(number, 0)
    return [json.loads(line) for line in told.split(b"\n") if line]


if __name__ == "__main__":
    root = sys.argv[1]
    print(json.dumps({name: run(os.path.join(root, name)) for name in sorted(os.listdir(root))}))
