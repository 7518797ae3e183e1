"""What the last run left on disk: its output, error files, dumps."""

from __future__ import annotations

import glob
import os
import re
from typing import NamedTuple

from firstcause.errors import InputError

# Looked for in this order where two are equally new: who writes an error file knows most.
_PLACES = (
    ("torch_elastic/*/attempt_*/*/error.json", "error files of torch elastic"),
    ("*/attempt_*/*/error.json", "error files of torch elastic"),
    ("*/*/attempt_*/*/error.json", "error files of torch elastic"),
    ("slurm-*.out", "output of slurm"),
    ("slurm-*.err", "output of slurm"),
    ("wandb/latest-run/files/output.log", "output kept by wandb"),
    ("wandb/run-*/files/output.log", "output kept by wandb"),
    (".firstcause/runs/*/run.json", "a recorded run"),
    ("nccl_trace_rank_*", "flight-recorder dumps"),
    ("nohup.out", "output of nohup"),
    ("*.log", "a log"),
    ("*.out", "a log"),
    ("*.err", "a log"),
    ("logs/*.log", "a log"),
    ("logs/*.out", "a log"),
    ("logs/*.err", "a log"),
    ("logs/slurm-*", "output of slurm"),
)
# Ranks that fail together write their files within this time.
TOGETHER = 600.0
MOST = 512


class Latest(NamedTuple):
    """The files of the last run, what they are, and how many other places held something."""

    paths: tuple[str, ...]
    what: str
    others: int


def latest(folder: str) -> Latest:
    """The newest output beneath a folder, with what belongs to it; raises ``InputError`` where there is none."""
    found: dict[str, tuple[float, int, str]] = {}
    for order, (pattern, what) in enumerate(_PLACES):
        for path in glob.iglob(os.path.join(glob.escape(folder), pattern)):
            if len(found) < MOST * len(_PLACES) and os.path.isfile(path) and os.path.getsize(path):
                found.setdefault(path, (os.path.getmtime(path), -order, what))
    named = os.environ.get("TORCHELASTIC_ERROR_FILE", "")
    if named and os.path.isfile(named) and os.path.getsize(named):
        found[named] = os.path.getmtime(named), 1, "the error file that TORCHELASTIC_ERROR_FILE names"
    if not found:
        raise InputError(
            "triage-nothing-left",
            f"no output of a run lies in {folder}: no slurm-*.out, *.log, error.json or wandb output",
            "firstcause triage FILE, or paste the error: firstcause triage -",
        )
    newest = max(found, key=lambda path: found[path])
    paths = sorted(path for path in found if path == newest or _belongs(path, newest, found))[:MOST]
    return Latest(tuple(paths), found[newest][2], len(found) - len(paths))


def _belongs(path: str, newest: str, found: dict[str, tuple[float, int, str]]) -> bool:
    """Whether a file tells of the same run: another rank's, or the other stream of one job."""
    near = abs(found[path][0] - found[newest][0]) <= TOGETHER
    return near and found[path][2] == found[newest][2] and _run_of(path) == _run_of(newest)


def _run_of(path: str) -> str:
    parent, name = os.path.split(path)
    if name == "error.json":
        return os.path.dirname(parent)
    if name == "output.log":
        return os.path.realpath(path)
    stem = name.rsplit(".", 1)[0] if name.endswith((".out", ".err")) else name
    return os.path.join(parent, re.sub(r"(trace_rank)_?\d+$", r"\1", stem))
