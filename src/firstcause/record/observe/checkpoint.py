"""From a snapshot to a checkpoint, in a process of its own: started by ``firstcause restore``, which has no torch.

Reads a request as JSON from standard input and writes the answer as JSON to standard output.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any

import torch

from firstcause.record.observe import check, saved

Tensors = dict[str, torch.Tensor]


def main() -> None:
    """Answer one request: the ``snapshot``, the file ``out``, and whether a state that is not finite is ``forced``."""
    request = json.load(sys.stdin)
    try:
        answer = make(request["snapshot"], request["out"], request["forced"])
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    json.dump(answer, sys.stdout)


def make(snapshot: str, out: str, forced: bool) -> dict[str, Any]:
    """Write the checkpoint and say what is in it; with values that are not finite it is written only if ``forced``."""
    structure, tensors = saved.load(snapshot)
    models = {
        path: {name: tensors[key] for name, key in named.items()}
        for path, named in structure["models"].items()
    }
    optimizers = {p: _optimizer(o, tensors) for p, o in structure.get("optimizers", {}).items()}
    bad = [f"{p}.{n}" for p, named in models.items() for n, t in named.items() if not _finite(t)]
    answer: dict[str, Any] = {
        "step": structure["step"],
        "models": {p: len(named) for p, named in models.items()},
        "optimizers": {p: len(o["state"]) for p, o in optimizers.items()},
        "bad": bad,
    }
    if not models or (bad and not forced):
        return answer
    checkpoint: dict[str, Any] = {"step": structure["step"]}
    checkpoint |= _one_or_many("model", models) | _one_or_many("optimizer", optimizers)
    _write(checkpoint, out)
    return answer | {"bytes": os.path.getsize(out), "keys": list(checkpoint)}


def _one_or_many(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """``model`` for the only one, else ``models`` by the names that the program has for them."""
    return {name: next(iter(found.values()))} if len(found) == 1 else {f"{name}s": found} if found else {}


def _optimizer(kept: dict[str, Any], tensors: Tensors) -> dict[str, Any]:
    def values(data: dict[str, Any]) -> dict[str, Any]:
        return {k: saved.decode(v, tensors, None) for k, v in data.items() if "o" not in v}

    groups = [
        {**values({k: v for k, v in g.items() if k != "params"}), "params": g["params"]}
        for g in kept["groups"]
    ]
    return {"state": {int(i): values(s) for i, s in kept["state"].items()}, "param_groups": groups}


def _finite(tensor: torch.Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex()) or check.finite(tensor)


def _write(checkpoint: dict[str, Any], out: str) -> None:
    """Whole or not at all, and read back as a program reads it."""
    temporary = f"{out}.{os.getpid()}.new"
    try:
        torch.save(checkpoint, temporary)
        read = torch.load(temporary, weights_only=True)
        if read.keys() != checkpoint.keys():
            raise ValueError("the checkpoint does not read back as it was written")
        os.replace(temporary, out)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
