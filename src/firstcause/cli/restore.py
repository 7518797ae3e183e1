"""Write the last good state of a failed run as a checkpoint: its model and its optimizer before the failing step.

The file is a plain dict that torch.load reads with weights_only=True: "model" and "optimizer" hold what load_state_dict
asks for ("models" and "optimizers" by name where there are several), "step" the number of steps that were taken.
"""

from __future__ import annotations

import argparse
import os

from firstcause.cli.output import write_json
from firstcause.errors import RecordError
from firstcause.record import restore
from firstcause.record.supervise import afterwards


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", help="a run's folder or id (default: the last one)")
    parser.add_argument(
        "--step", type=int, metavar="N", help="the state before this step (default: the last held)"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="the checkpoint, such as ckpt.pt"
    )
    parser.add_argument(
        "-f", "--force", action="store_true", help="replace FILE; write a state that is not finite too"
    )
    parser.add_argument("--json", metavar="FILE", help="write what is in the checkpoint as JSON")


def main(args: argparse.Namespace) -> int:
    folder = afterwards.found(args.run, os.getcwd())
    restore.refuse_existing(args.output, args.force)
    state = restore.chosen(folder, args.step)
    answer = restore.checkpoint(folder, state, args.output, args.force)
    if args.json:
        write_json(args.json, answer)
    if "bytes" not in answer:
        bad = answer["bad"]
        raise RecordError(
            "state-not-finite",
            f"{len(bad)} tensors of the state before step {state.step} are not finite, the first is {bad[0]}",
            "resume from an earlier checkpoint of your own; -f writes this one all the same",
        )
    if args.json != "-":
        _say(args.output, answer)
    return 0


def _say(path: str, answer: dict[str, object]) -> None:
    models, optimizers = answer["models"], answer["optimizers"]
    assert isinstance(models, dict)
    assert isinstance(optimizers, dict)
    print(f"{path}: the state before step {answer['step']}, {answer['bytes']} bytes")
    for name, found, several in (
        ("model", models, len(models) > 1),
        ("optimizer", optimizers, len(optimizers) > 1),
    ):
        for place, count in found.items():
            key = f"[{name + 's'!r}][{place!r}]" if several else f"[{name!r}]"
            print(
                f"  checkpoint{key}: {count} {'entries' if name == 'model' else 'parameters with state'}, of {place}"
            )
    if not optimizers:
        print("  no optimizer: its state was not kept")
    print("  not in it: schedulers, scalers, random numbers, the place in the data")
