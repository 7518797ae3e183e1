"""Observe any command, and keep what a diagnosis needs if it fails."""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import signal
import sys
import time
from collections.abc import Sequence

from firstcause.cli.output import write_json
from firstcause.errors import FirstcauseError, InputError
from firstcause.record import sources
from firstcause.record.folder import RunFolder, new_run_folder
from firstcause.record.journal import columns_of
from firstcause.record.supervise import conclude, expect, launch, surroundings
from firstcause.record.supervise.output import Output
from firstcause.schema import Run, to_plain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="RUN",
        help="folder of the record (default: a new one beneath .firstcause/runs)",
    )
    parser.add_argument(
        "-f", "--force", action="store_true", help="replace the folder if it holds an earlier run"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing of our own")
    parser.add_argument("--json", metavar="FILE", help="write the run as JSON")
    parser.add_argument(
        "--report", metavar="FILE", help="what you have seen or suspect, as text, kept with the run"
    )
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="TEXT",
        help="such as 'val_acc > 0.5' or 'min(val_loss) < 0.3': a number of the program's output or of the record that "
        "must hold, else it is a symptom; the output is then read on its way, unchanged; may be given more than once",
    )
    parser.add_argument(
        "--rehearse", type=int, metavar="STEP", help="replay this healthy step and say whether it is exact"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command, as you would type it")


def main(args: argparse.Namespace) -> int:
    if not args.command:
        raise InputError("no-command", "there is no command to run", "firstcause run python train.py")
    command = launch.resolve(args.command)
    cwd = os.getcwd()
    report = _read(args.report) if args.report else None
    expected = [expect.parse(text) for text in args.expect]
    folder = _folder(args, cwd)
    revision, dirty = surroundings.revision(cwd)
    run = Run(
        id=os.path.basename(folder.path),
        # By its whole path, so that a replay finds the same program from another shell.
        command=(os.path.abspath(shutil.which(command[0]) or command[0]), *command[1:]),
        folder=cwd,
        started=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        python=sys.version.split()[0],
        platform=sys.platform,
        git_revision=revision,
        git_dirty=dirty,
        report=report,
        environment={"variables": surroundings.environment(), "hardware": surroundings.hardware()},
    )
    folder.write_run(run)
    extra = {"FIRSTCAUSE_REHEARSE": str(args.rehearse)} if args.rehearse is not None else {}
    if expected:

        def read(line: str) -> None:
            for one in expected:
                one.read(line)

        with Output(read) as output:
            ending = launch.start(command, folder.path, extra, output)
    else:
        ending = launch.start(command, folder.path, extra)
    run = _concluded(run, folder, ending, cwd, expected)
    try:
        folder.write_run(run)
        if args.json:
            write_json(args.json, to_plain(run))
    except FirstcauseError as error:
        # The program has run: its own ending is what the caller waits for.
        print(f"firstcause: {error}", file=sys.stderr)
    if not args.quiet:
        from firstcause.cli.output import look
        from firstcause.report.terminal import render_run_summary

        color, width = look(sys.stderr)
        render_run_summary(run, sys.stderr, path=os.path.relpath(folder.path), color=color, width=width)
    return _end_like(ending)


def _folder(args: argparse.Namespace, cwd: str) -> RunFolder:
    if not args.output:
        name = re.sub(
            r"[^\w-]+",
            "-",
            os.path.basename(next((w for w in args.command if w.endswith(".py")), args.command[0])),
        )
        return new_run_folder(cwd, name.strip("-") or "run")
    folder = RunFolder(args.output)
    if os.path.exists(folder.path) and os.listdir(folder.path):
        if not args.force or not os.path.isfile(folder.file("run.json")):
            raise InputError(
                "output-exists",
                f"{args.output} exists and is not empty",
                "choose another folder, or -f to replace an earlier run",
            )
        shutil.rmtree(folder.path)
    try:
        os.makedirs(folder.path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(
            "output-unwritable", f"{args.output} cannot be made: {error}", "choose another folder with -o"
        ) from error
    return folder


def _concluded(
    run: Run, folder: RunFolder, ending: launch.Ending, cwd: str, expected: Sequence[expect.Expected]
) -> Run:
    from dataclasses import replace

    readings = list(folder.journals().values())
    columns = columns_of(readings) if expected else {}
    expectations = tuple(e.judged(columns) for e in expected)
    events = [e for r in readings for e in r.events]
    notes = [
        f"{e['event']}: {e.get('where') or e.get('text')}"
        for e in events
        if e.get("event") in ("internal-error", "note")
    ]
    notes += [f"expected {e.text}: {e.where}" for e in expectations if e.met is None]
    files = {f for e in events if e.get("event") == "sources" for f in e["files"]}
    hashes = surroundings.hashes(files)
    sources.keep(folder, hashes)
    first = next((e for e in events if e.get("event") == "first-step"), {})
    return replace(
        run,
        seconds=round(ending.seconds, 3),
        exit_code=ending.exit_code,
        signal=ending.signal,
        observed=bool(readings),
        sources=hashes,
        versions=first.get("versions"),
        symptoms=conclude.symptoms(folder, readings, ending, cwd, expectations),
        notes=tuple(notes),
        expectations=expectations,
    )


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError as error:
        raise InputError("report-unreadable", f"{path} cannot be read: {error}", "check the path") from error


def _end_like(ending: launch.Ending) -> int:
    """End as the command ended: with its code, or by its signal, so that a shell sees the same."""
    if ending.signal is None:
        return ending.exit_code or 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(ending.signal, signal.SIG_DFL) if ending.signal not in (
        signal.SIGKILL,
        signal.SIGSTOP,
    ) else None
    os.kill(os.getpid(), ending.signal)
    return 128 + ending.signal
