"""firstcause finds the first cause of a failing PyTorch run, proves it, and only then fixes it."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from firstcause import __version__
from firstcause.errors import FirstcauseError

INTERRUPTED = 130
# What a shell reports for a program whose reader has gone away.
PIPE_CLOSED = 141


class Verb(NamedTuple):
    """A verb's one-line help, and whether its options end where a command begins."""

    help: str
    takes_command: bool = False


# The help stands here and not in the modules, so that `firstcause --help` loads none of them.
VERBS = {
    "run": Verb("Run a command and record what it does.", takes_command=True),
    "diagnose": Verb("Find the first cause of a recorded failure and prove it."),
    "replay": Verb("Run a recorded failing step again and show its first bad value."),
    "trace": Verb("Follow one value through a step: shape, dtype, device and range at each line."),
    "minimize": Verb("Make a script of a few lines that fails as a recorded run did."),
    "view": Verb("Show runs and cases in the browser, live, and approve a fix there."),
    "watch": Verb("Follow a run in the terminal while it is recorded."),
    "report": Verb("Write a run or a case as one file that opens anywhere."),
    "open": Verb("Take the record out of such a file."),
    "export": Verb("Write the figures of a run as CSV, Parquet, or for TensorBoard."),
    "import": Verb("Read a history of TensorBoard, W&B or the Trainer as a run."),
    "restore": Verb("Write the last good state of a failed run as a checkpoint."),
    "runs": Verb("List, show, remove and pack what was recorded."),
    "ranks": Verb("Say where each rank of a run stands, and which one left the others first."),
    "capture": Verb("Look at a program that is already going: where each process stands, who waits."),
    "doctor": Verb("Say what works here, what does not, and why."),
    "diff": Verb("Say what differs between two recorded runs, and where their losses part."),
    "case": Verb("Approve, apply and verify a fix; see where each case stands."),
    "profile": Verb(
        "Measure how fast a training's steps are, and what makes them faster.", takes_command=True
    ),
    "check": Verb("Read code before it runs, against what was asked for."),
    "triage": Verb("Say where an error, a log or a question belongs, and what to look at first."),
    "brief": Verb("Show what was understood of a text that asks for a training."),
    "resume-check": Verb(
        "Check whether a training goes on after a break as if there were none.", takes_command=True
    ),
    "determinism": Verb("Run a command twice, and say where and why the runs part.", takes_command=True),
    "bisect": Verb(
        "Run a command without each component in turn; say which one carries the failure.",
        takes_command=True,
    ),
    "explain": Verb("Say what the catalogue knows about a cause."),
    "review-fix": Verb("Say whether a patch mends the cause, or hides what shows it."),
    "mcp": Verb("Serve the gate's tools to a coding agent."),
    "lsp": Verb("Serve an editor: diagnostics, corrections, and rules under the cursor."),
    "hook": Verb("Answer a coding agent that is about to change a file."),
    "skills": Verb("Write the skills for coding agents, made from the catalogue."),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; the only place that turns an error into a message."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a glyph shows a question mark; that is no reason to fail.
            stream.reconfigure(errors="replace")
    try:
        code = _dispatch(words)
        if sys.stdout is not None:
            # It is None where whoever started us had closed it.
            sys.stdout.flush()
        return code
    except SystemExit as end:
        # argparse has said what is wrong, or has printed the help that was asked for.
        return end.code if isinstance(end.code, int) else 2 if end.code else 0
    except FirstcauseError as error:
        return _say(error.message, error.hint)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more on its way out, and would complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001
        # Whatever it is, it is ours, and the user gets one line.
        if os.environ.get("FIRSTCAUSE_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        return _say(_own_failure(error), f"FIRSTCAUSE_DEBUG=1 firstcause {' '.join(words[:1])} … shows where")


def run() -> NoReturn:
    """The console entry: exits with the verb's code."""
    sys.exit(main())


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(_help())
        return 0 if words else 2
    if words[0] in ("-V", "--version"):
        print(f"firstcause {__version__}")
        return 0
    name, rest = words[0], words[1:]
    if name not in VERBS:
        return _say(f"there is no verb {name!r}: it is one of {', '.join(VERBS)}", "firstcause --help")
    module = importlib.import_module(f"firstcause.cli.{name.replace('-', '_')}")
    parser = argparse.ArgumentParser(
        prog=f"firstcause {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    if VERBS[name].takes_command:
        from firstcause.cli.command import parse_before_command

        arguments = parse_before_command(parser, rest)
    else:
        arguments = parser.parse_args(rest)
    code: int = module.main(arguments)
    return code


def _help() -> str:
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {name:<{width}}  {verb.help}" for name, verb in VERBS.items())
    return (
        "usage: firstcause [-h] [--version] VERB …\n\n"
        f"{__doc__}\n\n{verbs}\n\n"
        "firstcause VERB --help tells more of one.\n"
        "A failure from start to end:\n\n"
        "  firstcause run python train.py\n"
        "  firstcause diagnose last\n"
        "  firstcause case approve\n"
        "  firstcause case apply\n"
        "  firstcause case verify"
    )


def _say(message: str, hint: str) -> int:
    from firstcause.report.plain import harmless

    # A message may quote what a file holds.
    print(f"firstcause: {harmless(message)}", file=sys.stderr)
    if hint:
        print(f"next: {harmless(hint)}", file=sys.stderr)
    return 2


def _own_failure(error: Exception) -> str:
    trace = error.__traceback__
    place = "an unknown place"
    while trace is not None:
        place = f"{os.path.relpath(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = " ".join(str(error).split())
    return f"a failure of firstcause itself, not of your program, at {place}: {type(error).__name__}: {text}"


if __name__ == "__main__":
    run()
