"""Read a history that another program kept of a training, as a run: `view`, `diff`, `triage` and `report` take it.

Reads TensorBoard's event files (extra [tensorboard]), an offline run of Weights & Biases, and trainer_state.json of
transformers' Trainer. Nothing is asked of any server.
"""

from __future__ import annotations

import argparse
import os
import re

from firstcause.exchange.reading import read
from firstcause.exchange.recording import record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a file, or the folder that the training logged into")
    parser.add_argument("--name", metavar="NAME", help="a part of the run's id (default: the name of PATH)")


def main(args: argparse.Namespace) -> int:
    """Write a run of this folder and say what it holds; 0, also where the history shows a symptom."""
    history = read(args.path)
    said = args.name or os.path.basename(os.path.abspath(args.path))
    folder = record(history, os.getcwd(), re.sub(r"[^\w-]+", "-", said)[:60].strip("-") or "history")
    run = folder.run()
    steps = {step for series in history.series.values() for step in series.steps}
    print(f"{run.id}: {len(history.series)} series over {len(steps)} steps, {history.kind}")
    for symptom in run.symptoms:
        print(f"{symptom.kind}: {symptom.message}")
    print(f"next: firstcause {'triage' if run.symptoms else 'view'} {run.id}")
    return 0
