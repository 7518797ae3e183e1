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
from contextlib import ExitStack
from dataclasses import replace

from firstcause.cli.output import write_json
from firstcause.errors import FirstcauseError, InputError, RecordError
from firstcause.record.folder import RunFolder, new_run_folder
from firstcause.record.supervise import (
    afterwards,
    conclude,
    expect,
    hook,
    launch,
    policy,
    relay,
    surroundings,
)
from firstcause.record.supervise.output import Output
from firstcause.schema import Run, to_plain

# A look at the memory takes at most so long, with the trial of a patch.
MEMORY_SECONDS = 120.0
# What the disk refuses, and no mistake in the command line.
UNWRITABLE = ("home-unwritable", "output-unwritable", "run-unwritable")


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
    parser.add_argument(
        "--memory",
        action="store_true",
        help="afterwards run it once more in sealed copies, and say what grows from step to step, who holds it, and which "
        "statement feeds it",
    )
    policy.add_arguments(parser)
    parser.add_argument(
        "--on-failure",
        metavar="CMD",
        help="run CMD in a shell once the command has ended with a symptom; FIRSTCAUSE_SUMMARY and FIRSTCAUSE_RUN tell it which",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command, as you would type it")


def main(args: argparse.Namespace) -> int:
    if not args.command:
        raise InputError("no-command", "there is no command to run", "firstcause run python train.py")
    command = launch.resolve(args.command)
    cwd = os.getcwd()
    own = policy.of(args, cwd)
    report = _read(args.report) if args.report else None
    expected = [expect.parse(text) for text in args.expect]
    with ExitStack() as held:
        try:
            folder = _folder(args, cwd)
            held.enter_context(folder.held())
            run = _begun(command, folder, cwd, report, own)
        except FirstcauseError as error:
            if error.slug not in UNWRITABLE:
                raise
            # A training for which there is no room to record it is still the user's training.
            print(f"firstcause: {error.message}; the command runs unrecorded", file=sys.stderr)
            return _end_like(launch.start(command, None, {}))
        earlier = afterwards.conclude_all(cwd)
        extra = own.environment()
        extra |= {"FIRSTCAUSE_REHEARSE": str(args.rehearse)} if args.rehearse is not None else {}
        if expected:

            def read(line: str) -> None:
                for one in expected:
                    one.read(line)

            with Output(read) as output:
                ending = launch.start(command, folder.path, extra, output)
        else:
            ending = launch.start(command, folder.path, extra)
        try:
            run = conclude.concluded(run, folder, ending, expected)
            notes = (policy.note_of_secrets(run), "" if args.output else policy.make_room(own, cwd, run.id))
            run = policy.without_secrets(replace(run, notes=(*run.notes, *filter(None, notes))))
            folder.write_run(run)
            if args.json:
                write_json(args.json, to_plain(run))
        except Exception as error:  # noqa: BLE001
            # The program has run: its own ending is what the caller waits for, here and below.
            _complain(error)
    try:
        # Where standard error is closed, print would choose standard output.
        if not args.quiet and sys.stderr is not None:
            _summarise(run, folder, earlier)
    except Exception as error:  # noqa: BLE001
        _complain(error)
    if args.memory:
        try:
            _look_at_memory(args, run, folder)
        except Exception as error:  # noqa: BLE001
            _complain(error)
    if args.on_failure and hook.wanted(run):
        _tell(args.on_failure, run, folder.path)
    return _end_like(ending)


def _look_at_memory(args: argparse.Namespace, run: Run, folder: RunFolder) -> None:
    from firstcause.cli.progress import progress
    from firstcause.diagnose.bounds import keeps_no_data
    from firstcause.diagnose.memory import look
    from firstcause.record.kept_looks import keep
    from firstcause.report.json_file import diagnosis_to_json
    from firstcause.report.memory import lines
    from firstcause.sandbox.memory import headroom

    if keeps_no_data(run):
        raise InputError(
            "memory-without-data", "--memory needs what --no-data leaves out", "leave out one of the two"
        )
    free = headroom()
    with progress("memory", MEMORY_SECONDS, args.quiet):
        found = look(folder, MEMORY_SECONDS, free)
    diagnosis = found.diagnosis
    if not found.why:
        # For the page of the run.
        keep(folder, found.kept())
    if args.json:
        growth = {"held_by": found.growth.get("expression"), "samples": found.samples, **found.growth}
        write_json(
            args.json, to_plain(run) | {"memory": growth | {"diagnosis": diagnosis_to_json(diagnosis)}}
        )
    if args.quiet or sys.stderr is None:
        return
    for line in lines(found.samples, found.growth, free) if not found.why else (f"memory: {found.why}",):
        print(f"firstcause: {line}", file=sys.stderr)
    if diagnosis.status == "established":
        print(
            f"firstcause: {diagnosis.cause} at {diagnosis.site}; firstcause diagnose {folder.path}",
            file=sys.stderr,
        )


def _complain(error: Exception) -> None:
    if sys.stderr is None:
        return
    ours = "" if isinstance(error, FirstcauseError) else "the record is not complete, by our own failure: "
    try:
        print(f"firstcause: {ours}{error}", file=sys.stderr, flush=True)
    except OSError:
        # Nobody reads any more; Python would try once more on its way out, and change the exit code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _summarise(run: Run, folder: RunFolder, earlier: list[Run]) -> None:
    from firstcause.cli.output import look
    from firstcause.report.run_line import run_line
    from firstcause.report.terminal import render_run_summary

    color, width = look(sys.stderr)
    render_run_summary(run, sys.stderr, path=os.path.relpath(folder.path), color=color, width=width)
    for one in earlier:
        print(
            f"firstcause: {one.id} was killed while it was recorded: firstcause diagnose {one.id}",
            file=sys.stderr,
        )
    print(run_line(run, os.path.relpath(folder.path)), file=sys.stderr, flush=True)


def _tell(command: str, run: Run, path: str) -> None:
    """Run what the user wants run at a failure; the summary that it gets is the last line of the log."""
    from firstcause.report.run_line import run_line

    try:
        wrong = hook.call(command, run, path, run_line(run, os.path.relpath(path)))
        if wrong and sys.stderr is not None:
            print(f"firstcause: {wrong}", file=sys.stderr, flush=True)
    except Exception as error:  # noqa: BLE001
        _complain(error)


def _begun(command: list[str], folder: RunFolder, cwd: str, report: str | None, own: policy.Policy) -> Run:
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
        environment={
            "variables": surroundings.environment(),
            "hardware": surroundings.hardware(),
            "recording": own.facts(),
        },
    )
    run = policy.without_secrets(run)
    folder.begin(run)
    return run


def _folder(args: argparse.Namespace, cwd: str) -> RunFolder:
    if not args.output:
        name = re.sub(
            r"[^\w-]+",
            "-",
            os.path.basename(next((w for w in args.command if w.endswith(".py")), args.command[0])),
        )
        return new_run_folder(cwd, name.strip("-") or "run")
    folder = RunFolder(args.output)
    if os.path.exists(folder.path) and folder.is_held():
        raise RecordError(
            "run-unfinished", f"{args.output} is still being recorded", "choose another folder with -o"
        )
    replaces = args.force and os.path.isfile(folder.file("run.json"))
    if os.path.isdir(folder.path) and os.listdir(folder.path) and not replaces:
        raise InputError(
            "output-exists",
            f"{args.output} exists and is not empty",
            "choose another folder, or -f to replace an earlier run",
        )
    try:
        if os.path.isdir(folder.path):
            shutil.rmtree(folder.path)
        os.makedirs(folder.path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(
            "output-unwritable", f"{args.output} cannot be made: {error}", "choose another folder with -o"
        ) from error
    return folder


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError as error:
        raise InputError("report-unreadable", f"{path} cannot be read: {error}", "check the path") from error


def _end_like(ending: launch.Ending) -> int:
    """End as the command ended: with its code, or by its signal, so that a shell sees the same."""
    for number in relay.LATE:
        # Python's own end would put handlers back to their default, and one of them might still end us.
        signal.signal(number, signal.SIG_IGN)
    if ending.signal is None:
        return ending.exit_code or 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if ending.signal not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(ending.signal, signal.SIG_DFL)
    os.kill(os.getpid(), ending.signal)
    return 128 + ending.signal
