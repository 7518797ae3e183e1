"""Replay the failing step or call of a run in a fresh sealed process, and say whether it is exact."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

from firstcause.cli.budget import add_budget
from firstcause.cli.output import write_json
from firstcause.cli.progress import progress
from firstcause.errors import RecordError
from firstcause.lab.again import meant, replay_fresh
from firstcause.lab.given.asked import Compared, compare
from firstcause.record.supervise import afterwards
from firstcause.schema import to_plain

Facts = dict[str, Any]
# Of what sets a step apart, so many properties are shown.
MOST = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", help="a run's folder or id (default: the last one)")
    parser.add_argument(
        "--device",
        choices=["cpu"],
        help="lead every device of the program there, such as for a recording made on a GPU",
    )
    add_budget(parser, 300)
    parser.add_argument(
        "--against",
        type=int,
        metavar="N",
        help="compare what the step was given with what N other steps are given, in a run from the start",
    )
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")


def main(args: argparse.Namespace) -> int:
    folder = afterwards.found(args.run, os.getcwd())
    failures = folder.failures()
    if not failures:
        raise RecordError(
            "nothing-to-replay",
            f"{args.run} holds no failing step and no failing call",
            "replay a run that failed inside its loop, or at a call of a model; `firstcause diagnose --yes` replays what is "
            "around another exception",
        )
    failure = meant(failures)
    with progress("replay", args.budget):
        result = replay_fresh(folder, failure, args.budget, args.device)
    compared = None
    if args.against:
        with progress("other steps", args.budget):
            compared = compare(folder, failure, args.against, args.budget)
    if args.json:
        write_json(args.json, to_plain(result) | ({"compared": to_plain(compared)} if compared else {}))
    if args.json != "-":
        print("\n".join(_told(failure, result, compared)))
    return 0 if result["exact"] or result.get("same") else 3


def _told(failure: Facts, result: Facts, compared: Compared | None) -> Iterator[str]:
    what = f"step {failure['step']}" if failure["step"] is not None else "what is outside of every step"
    what = f"call {failure['call']['number']}" if "call" in failure else what
    if result["exact"]:
        yield f"{what} replayed exactly in a fresh process: {_compared(failure, result)}"
    elif "same" in result:
        yield f"{what} replayed in a fresh process: {result['why']}"
    else:
        yield f"{what} was not replayed exactly: {result['why']}"
    yield from (f"  {line}" for line in _seen(failure, result))
    yield from _apart(compared) if compared is not None else ()


def _apart(compared: Compared) -> Iterator[str]:
    """What the step was given that the others were not, in numbers."""
    if compared.why:
        yield f"not compared with other steps: {compared.why}"
        return
    if not compared.apart:
        yield f"nothing that it was given lies outside of what {compared.others} other steps were given"
        return
    more = f" (and {compared.failing - 1} more that failed)" if compared.failing > 1 else ""
    yield f"what it was given{more} and {compared.others} other steps were not:"
    for one in compared.apart[:MOST]:
        usual = f"{one.least:g}" if one.least == one.largest else f"{one.least:g} to {one.largest:g}"
        yield f"  {one.name} {one.value:g}; elsewhere {usual}"


def _compared(failure: Facts, result: Facts) -> str:
    if "equal_losses" in result:
        return "the loss of this rank alone is the same bit for bit"
    if "gradients" in result:
        return f"{result['equal']} of {result['gradients']} gradients equal bit for bit"
    if failure["kind"] == "nan":
        return f"{result['equal']} of {result['outputs']} outputs equal bit for bit"
    return "the same exception at the same line"


def _seen(failure: Facts, result: Facts) -> Iterator[str]:
    """What went in, in ranges, and the first op that refused it or made a bad value of it."""
    for given in result.get("inputs") or failure.get("call", {}).get("inputs") or ():
        yield f"input {given['name']}: {_tensor(given)}"
    trace = result.get("trace") or {}
    refused = trace.get("refused") or {}
    if refused.get("op"):
        yield f"{refused['op']} refused its input{_place(refused['site'])}: {refused['error'].splitlines()[0]}"
        tensors = [o for o in refused["operands"] if isinstance(o, dict)]
        yield from (f"  operand {n}: {_tensor(operand)}" for n, operand in enumerate(tensors))
        index = refused.get("index")
        if index and index["outside"]:
            rows = f"outside of the {index['rows']} rows (0 to {index['rows'] - 1})"
            yield f"  {index['outside']} of {index['total']} ids {rows}: {index['values']} at {index['at']}"
    birth = next((b for b in trace.get("births") or () if not b.get("constant")), None)
    if birth is not None and not refused.get("op"):
        sign = "".join(birth.get("signs") or ()) if birth["kind"] == "inf" else ""
        yield f"first bad value: {sign}{birth['kind']} of {birth['op']}{_place(birth['site'])} at {birth['element']}"
        tensors = [o for o in birth.get("operands") or () if isinstance(o, dict)]
        yield from (f"  operand {n}: {_tensor(operand)}" for n, operand in enumerate(tensors))


def _tensor(facts: Facts) -> str:
    said = f"{facts['dtype']} {facts['shape']}"
    if "min" in facts:
        said += f", {float(facts['min']):g} to {float(facts['max']):g}"
    bad = facts.get("not_finite") or sum(facts.get(k, 0) for k in ("nan", "inf", "-inf"))
    return f"{said}, {bad} not finite" if bad else said


def _place(site: Facts | None) -> str:
    return f" at {os.path.relpath(site['file'])}:{site['line']}" if site else ""
