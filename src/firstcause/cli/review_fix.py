"""Review a patch before it is applied: does it mend the cause, or hide what shows it.

Reads a unified diff from a file or standard input; without either, the changes that git sees here. An open case adds
its evidence, its refuted hypotheses and what has failed in it. Exit code 0 where nothing speaks against the patch,
1 where something does, 2 where it cannot be read.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

from firstcause.case import CaseFolder, find_case
from firstcause.case.reviewing import review_for
from firstcause.cli.output import write_json
from firstcause.errors import InputError, RecordError
from firstcause.fix.review import Review, Setting, review
from firstcause.record.folder import HOME
from firstcause.report.plain import plain
from firstcause.schema import Diagnosis, from_plain, to_plain

LARGEST = 4_000_000
_GIT_SECONDS = 20.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "diff", nargs="?", metavar="DIFF", help="a file; - is standard input (default: git diff HEAD)"
    )
    parser.add_argument("--case", metavar="CASE", help="id or its beginning (default: the newest open one)")
    parser.add_argument("--no-case", action="store_true", help="review the patch by itself")
    parser.add_argument(
        "--diagnosis", metavar="FILE", help="instead of a case: what `firstcause diagnose --json FILE` wrote"
    )
    parser.add_argument("--json", metavar="FILE", help='write the review as JSON; "-" is standard output')


def main(args: argparse.Namespace) -> int:
    cwd = os.getcwd()
    diff = _diff(args.diff, cwd)
    folder = None if args.no_case or args.diagnosis else _case(cwd, args.case)
    if folder is not None:
        found = review_for(folder.progress(), diff, cwd)
    else:
        found = review(diff, cwd, Setting(_diagnosis(args.diagnosis)) if args.diagnosis else None)
    if args.json:
        write_json(
            args.json, {**to_plain(found), "passed": found.passed, "case": folder.id if folder else None}
        )
    if args.json != "-":
        _tell(found, folder, args.diagnosis is not None)
    return 0 if found.passed else 1


def _tell(found: Review, folder: CaseFolder | None, diagnosed: bool) -> None:
    beside = "without a case: only what the patch itself shows"
    if folder or diagnosed:
        beside = f"in the light of {f'case {folder.id}' if folder else 'the diagnosis'}"
    print(f"{len(found.files)} files, {len(found.places)} places, {beside}")
    for reason in found.reasons:
        print(f"{plain(reason.place)}: {reason.rule}: {plain(reason.text)}")
    if found.passed:
        print("nothing speaks against it; whether it helps is told by: firstcause case verify")
    else:
        print(f"next: firstcause case show {folder.id}" if folder else "next: firstcause diagnose")


def _diagnosis(path: str) -> Diagnosis:
    try:
        with open(path, encoding="utf-8") as file:
            return from_plain(Diagnosis, {**json.load(file), "fix": None})
    except (OSError, ValueError, TypeError) as error:
        message = f"{path} holds no diagnosis: {error}"
        raise InputError(
            "diff-unreadable", message, "firstcause diagnose RUN --json FILE writes one"
        ) from error


def _case(cwd: str, name: str | None) -> CaseFolder | None:
    try:
        return find_case(os.path.join(cwd, HOME), name)
    except RecordError:
        if name is not None:
            raise
        # No case is open here: the patch is reviewed by itself, and the answer says so.
        return None


def _diff(path: str | None, cwd: str) -> str:
    if path is None and (sys.stdin is None or sys.stdin.isatty()):
        return _of_git(cwd)
    if path in (None, "-"):
        text = sys.stdin.read(LARGEST + 1) if sys.stdin else ""
        if path is None and not text.strip():
            return _of_git(cwd)
    else:
        try:
            with open(str(path), encoding="utf-8", errors="replace", newline="") as file:
                text = file.read(LARGEST + 1)
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            raise InputError(
                "diff-unreadable", message, "give a file with a unified diff, or - for standard input"
            ) from error
    if len(text) > LARGEST:
        message = f"the diff is larger than {LARGEST} characters, which no reader checks at once"
        raise InputError("diff-unreadable", message, "review it in parts")
    return text


def _of_git(cwd: str) -> str:
    command = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "diff",
        "--no-ext-diff",
        "--no-color",
        "--relative",
        "HEAD",
    ]
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(
            "diff-unreadable", f"git diff did not answer: {error}", "give a file with a unified diff"
        ) from error
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0 or not text.strip():
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[:1]
        message = f"git diff HEAD shows no change here{': ' + said[0] if said else ''}"
        raise InputError(
            "diff-unreadable", message, "give a file with a unified diff, or - for standard input"
        )
    return text
