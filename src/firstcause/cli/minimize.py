"""Make a script of a few lines that fails as a recorded run did, with torch alone."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from typing import Any

from firstcause.case import CaseFolder, readable_cases
from firstcause.cli.budget import add_budget
from firstcause.cli.output import write_json
from firstcause.cli.progress import progress
from firstcause.errors import RecordError
from firstcause.lab.again import meant
from firstcause.minimize.causes import BROKEN_BY
from firstcause.minimize.regression import regression_test
from firstcause.minimize.reproduce import Reproduction, reproduce
from firstcause.record.folder import HOME, RunFolder
from firstcause.record.ranked import world_of
from firstcause.record.supervise import afterwards, anew, launch
from firstcause.schema import to_plain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run",
        nargs="?",
        default="last",
        help="a run's folder or id, a case, or a script, which is run first (default: the last run)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the script there (default: print it)")
    parser.add_argument(
        "--pytest",
        action="store_true",
        help="write a test that runs the program: red until it gets past the failure",
    )
    add_budget(parser, 60)
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")


def main(args: argparse.Namespace) -> int:
    folder = _meant(args.run)
    failures = folder.failures()
    raised = [s for s in folder.run().symptoms if s.kind == "exception"]
    invariant = "" if failures or raised else _broken(folder)
    if not failures and not raised and not invariant and not world_of(folder.path):
        raise RecordError(
            "nothing-to-replay",
            f"{args.run} holds no failing step, and no case of it an established cause that a script can show",
            "minimize a run that failed inside its loop, or diagnose a training that fails without a word first",
        )
    if args.pytest and invariant:
        raise RecordError(
            "not-reproduced",
            "a training that raises nothing has no failure that a test of its command would see",
            "leave --pytest out, or verify the fix with `firstcause case verify`",
        )
    with progress("minimize", args.budget):
        result = reproduce(folder, meant(failures) if failures else None, args.budget, invariant)
    if args.json:
        write_json(args.json, to_plain(result))
    text = _test(folder, failures, result, args.output) if args.pytest else result.script
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(text)
    if args.json == "-":
        return 0
    if args.output:
        print(f"{args.output}: {_told(result)}")
    else:
        print(text, end="")
        print(f"# {_told(result)}")
    for line in result.dropped:
        print(f"{'' if args.output else '# '}left out: {line}")
    return 0


def _meant(name: str) -> RunFolder:
    """The run of that name, the run of the case of that name, or the record of the script, which is run now."""
    if os.path.isfile(name):
        with tempfile.TemporaryDirectory(prefix="firstcause-") as scratch:
            answer = os.path.join(scratch, "run.json")
            observed = [sys.executable, "-m", "firstcause", *anew.words([launch.python(), name], answer)]
            # What it prints stands before the result.
            subprocess.run(observed, check=False, stdout=sys.stderr)
            return anew.run_of(answer, os.getcwd())
    case = _case(name)
    return afterwards.found(case.run_folder() if case is not None else name, os.getcwd())


def _broken(folder: RunFolder) -> str:
    """What the established cause of a case of this run breaks; empty where there is no such case."""
    for case, reached in readable_cases(os.path.join(os.getcwd(), HOME)):
        if os.path.realpath(case.run_folder()) == os.path.realpath(folder.path):
            diagnosis = reached.case.diagnosis
            invariant = BROKEN_BY.get(diagnosis.cause or "") if diagnosis is not None else None
            if invariant:
                return invariant
    return ""


def _case(name: str) -> CaseFolder | None:
    from firstcause.cli.cases.place import chosen

    if name == "last" or os.path.isdir(name):
        return None
    try:
        return chosen(name)
    except RecordError:
        # Then it is a run's name, or nobody's, which is said where runs are looked for.
        return None


def _test(folder: RunFolder, failures: list[dict[str, Any]], result: Reproduction, output: str | None) -> str:
    # A call outside of a step comes after steps that are not counted from where it stands.
    known = failures and failures[0].get("step") is not None and "call" not in failures[0]
    step = int(failures[0]["step"]) if known else None
    text = regression_test(folder, step, result, output or "test_repro.py")
    if text is None:
        raise RecordError(
            "not-reproduced",
            f"the command {' '.join(folder.run().command)} is no script of Python's, which a test could run",
            "leave --pytest out",
        )
    return text


def _told(result: Reproduction) -> str:
    rates = ""
    if result.rates and result.rates[0] < result.rates[2]:
        before, after, of = result.rates
        rates = f"the step failed with {before} of {of} seeds, the script fails with {after}; "
    if not result.calls:
        return (
            f"{result.lines()} lines; no call of torch's is in the failure; how often the program fails was not measured, the "
            f"script fails in {result.tried} of {result.tried} runs; it ends with: {result.ends}"
        )
    return (
        f"{result.lines()} lines; {result.left} of the step's {result.calls} calls of torch are left, "
        f"{result.tried} programs were tried; {rates}it ends with: {result.ends}"
    )
