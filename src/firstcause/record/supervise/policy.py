"""What one run keeps and what is done at its failure: the settings of the project, and the options of the command before them."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from typing import Any

from firstcause.record import kept_runs, redact, settings
from firstcause.record.observe import at_failure, privacy, room
from firstcause.record.settings import Settings
from firstcause.record.sizes import size
from firstcause.schema import Run, from_plain, to_plain


@dataclass(frozen=True)
class Policy:
    """The settings of one run, and for how many seconds it may pause."""

    settings: Settings
    pause: float = at_failure.PAUSE_SECONDS

    def environment(self) -> dict[str, str]:
        """How the processes of the run are told, where it differs from what they do by themselves."""
        usual, own = Settings(), self.settings
        told = {privacy.VARIABLE: "1"} if own.no_data else {}
        if own.snapshot_size != usual.snapshot_size:
            told[room.VARIABLE] = str(own.snapshot_size)
        if own.on_nan != usual.on_nan:
            told |= {at_failure.VARIABLE: own.on_nan, at_failure.LIMIT: repr(self.pause)}
        return told

    def facts(self) -> dict[str, Any]:
        """The same for the record."""
        own = self.settings
        return {"no_data": own.no_data, "snapshot_bytes": own.snapshot_size, "on_nan": own.on_nan}


def of(args: argparse.Namespace, cwd: str) -> Policy:
    """The policy that the options and the project's settings give; raises ``InputError`` for settings that are none."""
    found = settings.read(cwd)
    given = {
        name: getattr(args, name) for name in Settings.__dataclass_fields__ if getattr(args, name) is not None
    }
    found = replace(found, **given)
    if os.environ.get(privacy.VARIABLE) == "1":
        found = replace(found, no_data=True)
    return Policy(found, args.pause_limit if args.pause_limit is not None else at_failure.PAUSE_SECONDS)


def of_settings(cwd: str) -> Policy:
    """The policy of a project where no options are given; raises ``InputError`` for settings that are none."""
    names = (*Settings.__dataclass_fields__, "pause_limit")
    return of(argparse.Namespace(**dict.fromkeys(names)), cwd)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``firstcause run`` that make the policy; None where one is not given."""
    parser.add_argument(
        "--no-data", action="store_true", default=None, help="keep no batch, no input, and no value of them"
    )
    parser.add_argument(
        "--on-nan",
        choices=settings.ON_NAN,
        help="at the first step whose gradients or loss are not finite: go on as without us (the default), end the program "
        f"there (exit code {at_failure.STOPPED}), or wait",
    )
    parser.add_argument(
        "--pause-limit", type=_seconds, metavar="TIME", help="wait no longer, such as 90s or 8h (default: 1h)"
    )
    parser.add_argument(
        "--keep-runs", type=_count, metavar="N", help="earlier runs that are kept (default: 100)"
    )
    parser.add_argument(
        "--keep-size", type=_size, metavar="SIZE", help="what they may take in all (default: 20GB)"
    )
    parser.add_argument(
        "--snapshot-size",
        type=_size,
        metavar="SIZE",
        help="what the state of a failing step may take (default: 2GB)",
    )


def make_room(policy: Policy, cwd: str, newest: str) -> str:
    """Remove earlier runs that are too many or too large, and say which; empty where none went."""
    own = policy.settings
    try:
        gone = kept_runs.make_room(cwd, own.keep_runs, own.keep_size, newest)
    except OSError as error:
        return f"earlier runs could not be looked at, so none was removed: {error}"
    if not gone:
        return ""
    names = ", ".join(one.id for one in gone[:3]) + (", …" if len(gone) > 3 else "")
    return (
        f"removed {len(gone)} earlier runs ({names}), {size(sum(one.bytes for one in gone))}: at most "
        f"{own.keep_runs} runs and {size(own.keep_size)} are kept"
    )


def without_secrets(run: Run) -> Run:
    """The run as it may be written, shown, and told to others."""
    return from_plain(Run, redact.value(to_plain(run), redact.held()))


def note_of_secrets(run: Run) -> str:
    """What a command line without its secrets means for a replay; empty where there were none."""
    hidden = sum(redact.HIDDEN in word for word in run.command)
    if not hidden:
        return ""
    words = "1 word" if hidden == 1 else f"{hidden} words"
    return f"kept secret and not in the record: {words} of the command line; a replay is given {redact.HIDDEN} instead"


def _seconds(text: str) -> float:
    factor = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 0.0)
    try:
        seconds = float(text[:-1]) * factor if factor else float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds < 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 90s, 5m or 8h")
    return seconds


def _size(text: str) -> int:
    try:
        return settings.size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return int(text)
