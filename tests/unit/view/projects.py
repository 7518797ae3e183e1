"""A project with a recorded run, its journals, a failing step and an open case, for the tests of the page."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from case.samples import diagnosis, project

from firstcause.case import CaseFolder, find_case, open_case
from firstcause.record.folder import RunFolder
from firstcause.record.journal import Journal
from firstcause.schema import Diagnosis, Evidence, Hypothesis

COLUMNS = ("loss", "grad_norm", "lr", "seconds", "grad_norm/net.0.weight", "grad_norm/net.0.bias")
STEPS = 120
BAD = 118
ARMS = {"losses": {"as it was": [3.0, 2.5, 2.6, 2.9, 4.0], "with the change": [3.0, 2.0, 1.5, 1.1, 0.9]}}

ACTIVATIONS = {
    "net": {
        "shape": [32, 1],
        "dtype": "float32",
        "nan": 0,
        "inf": 0,
        "-inf": 0,
        "zeros": 0,
        "min": -2.5,
        "max": 90.0,
    },
    "net.0": {
        "shape": [32, 8],
        "dtype": "float32",
        "nan": 0,
        "inf": 0,
        "-inf": 1,
        "zeros": 64,
        "min": -1.0,
        "max": 1.0,
    },
}
ROWS = [
    {
        "name": "rain",
        "shape": [32, 24],
        "dtype": "float32",
        "bad": [{"row": 10, "min": 0.0, "max": 61.5, "values": [0.0, 1.5, 61.5, 0.0, 0.0, 0.0, 0.0, 0.0]}],
        "others": {"min": 0.0, "max": 9.0},
    }
]
PROFILE = {
    "steps": 40,
    "step_ms": 12.5,
    "kind": "data",
    "parts": [
        {"name": "data", "share": 0.75},
        {"name": "backward", "share": 0.15},
        {"name": "other", "share": 0.1},
    ],
    "lines": [{"name": "train.py:9 x = load(n)", "share": 0.7}],
}
MEMORY = {
    "samples": [
        {
            "step": s,
            "tensors": 3 * s,
            "bytes": 1_000_000 * s,
            "resident": 300_000_000 + 1_000_000 * s,
            "nodes": 30 * s,
        }
        for s in (3, 6, 9, 12)
    ],
    "after": [{"step": s, "tensors": 3, "bytes": 1_000_000, "resident": 1, "nodes": 1} for s in (13, 14)],
    "released_at": 12,
    "kind": "graph",
    "held_by": "history",
    "file": "train.py",
    "line": 6,
    "text": "history.append(loss)",
    "bytes_a_step": 1e6,
    "full_at": 9000,
    "cause": "loss-history-keeps-graph",
    "evidence": ["graph nodes 29.0 to 0.0 a step"],
    "fix": "Keep loss.item().",
    "does_not_fix": "other histories",
}


def row(step: int) -> list[float]:
    """The figures of a step: a loss that falls to NaN at step ``BAD``, with one spike at step 60."""
    loss = math.nan if step >= BAD else 50.0 if step == 60 else 2.0 * math.exp(-step / 40)
    norm = math.inf if step >= BAD else 1.5
    return [loss, norm, 1e-3, 0.02, norm * 0.8, norm * 0.6]


def failing() -> dict[str, Any]:
    """What a failing step looks like on disk."""
    site = {"file": "train.py", "line": 6, "function": "loss", "text": "return -torch.log(1 - p)"}
    birth = {"op": "log", "number": 22, "kind": "inf", "signs": ["-"], "phase": "forward", "site": site}
    birth |= {
        "module": "net.0",
        "element": [10],
        "operands_at": [0.0],
        "rows": 1,
        "first_rows": [10],
        "ancestors": [],
    }
    return {
        "kind": "nan",
        "name": "1-118-nan",
        "step": BAD,
        "gradients": 2,
        "bad_gradients": ["net.0.weight", "net.0.bias"],
        "unit": {"file": "train.py", "line": 3, "function": "main", "kind": "loop"},
        "replay": {
            "status": "replayed",
            "exact": True,
            "trace": {"ops": 96, "births": [birth], "activations": ACTIVATIONS, "batch_rows": ROWS},
        },
    }


def write_steps(run: RunFolder, first: int, last: int, rank: int = 0) -> None:
    """Append the rows of these steps, as the observed process does."""
    journal = Journal(run.file(f"rank-{rank}-{100 + rank}.journal"))
    for step in range(first, last):
        journal.metrics(step, COLUMNS, row(step))
        if step % 10 == 0:
            journal.event("memory", step=step, resident=1_000_000 * (300 + step))


def recorded(folder: Path, ranks: int = 1) -> RunFolder:
    """A project in ``folder`` with one run that failed; its record."""
    root = project(folder)
    run = RunFolder(str(root / "runs" / "r1"))
    for rank in range(ranks):
        write_steps(run, 0, STEPS, rank)
    Journal(run.file("rank-0-100.journal")).event("note", step=70, text="the batch was not kept")
    (root / "runs" / "r1" / "failures").mkdir()
    (root / "runs" / "r1" / "failures" / "1-118-nan.json").write_text(json.dumps(failing()))
    return run


def believed(**changes: Any) -> Diagnosis:
    """The diagnosis of the samples with an experiment that has two curves."""
    plain = diagnosis(**changes)
    arms = Evidence("experiment", True, "with the change the loss falls on", ARMS)
    first = Hypothesis("log-of-zero", plain.site, 1, "confirmed", (*plain.hypotheses[1].evidence, arms))
    rest = tuple(h for h in plain.hypotheses if h.cause != "log-of-zero")
    return diagnosis(**{"hypotheses": (first, *rest), **changes})


def opened(folder: Path, **changes: Any) -> CaseFolder:
    """The case of the project's run, diagnosed."""
    root = str(folder / ".firstcause")
    case = open_case(root, "r1", str(folder / ".firstcause" / "runs" / "r1"), believed(**changes))
    return find_case(root, case.id)
