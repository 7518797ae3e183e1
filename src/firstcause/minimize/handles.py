"""A file that was open before the workers of a loader began: a script in which their reads are mixed in the same way."""

from __future__ import annotations

import builtins
from typing import Any

SCRIPT = """\
import tempfile
import time

from torch.utils.data import DataLoader, Dataset


class {owner}(Dataset):
    def __init__(self):
        self.{name} = tempfile.TemporaryFile()  # opened once, and shared by every worker that is forked
        self.{name}.writelines(n.to_bytes(4, "little") * {repeats} for n in range({records}))

    def __len__(self):
        return {records}

    def __getitem__(self, n):
        self.{name}.seek({size} * n)
        for _ in range({parts}):
            found = int.from_bytes(self.{name}.read({part})[:4], "little")
            if found != n:
                raise {kind}(f"record {{found}} was read at the place of record {{n}}")
            time.sleep(0.001)  # what is done with it meanwhile
        return n


for _ in DataLoader({owner}(), batch_size=8, num_workers={workers}, multiprocessing_context="fork"):
    pass
"""
SAID = "record N was read at the place of record N"
# A record of as many parts, each as large as what a buffered file reads at once: between two of them another worker reads.
PART, PARTS, RECORDS = 1 << 13, 4, 96
# So many runs of the script are to fail, one after the other: which reads are mixed is a matter of the workers' pace.
RUNS = 5


def script_of(handle: dict[str, Any], kind: str, workers: int) -> str:
    """``handle``: the shared file as the loader's process told it. ``kind``: the exception's type that the run ended with."""
    held = handle.get("held") or {}
    name = str(held.get("path") or "file").rpartition(".")[2]
    owner = str(held.get("owner") or "Records").rpartition(".")[2]
    return SCRIPT.format(
        owner=owner if owner.isidentifier() else "Records",
        name=name if name.isidentifier() else "file",
        # One of the program's own is not known to a script of torch alone.
        kind=kind if isinstance(getattr(builtins, kind, None), type) else "ValueError",
        workers=max(2, workers),
        part=PART,
        parts=PARTS,
        size=PART * PARTS,
        repeats=PART * PARTS // 4,
        records=RECORDS,
    )
