"""Running the program again in a throw-away copy: with a patch that is only proposed, or as the files are now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from firstcause.errors import InputError, RecordError
from firstcause.fix.apply import apply_diff
from firstcause.fix.invariants import still_broken
from firstcause.fix.recorded_copy import RECORDER, Recorded, program_copied
from firstcause.lab import again
from firstcause.record.folder import RunFolder
from firstcause.sandbox.program_copy import Copied
from firstcause.schema import Run, to_plain

# How Python and shells say that the kernel refused a write.
DENIED = ("Permission denied", "PermissionError")
# An audit runs the program once more, watched, and perhaps its experiment.
AUDITED_TIMES = 4.0


@dataclass(frozen=True)
class Verification:
    """What a second run showed: whether the failure is gone, a sentence with its numbers, and the numbers."""

    passed: bool
    text: str
    values: dict[str, Any] = field(default_factory=dict)


def try_in_copy(
    run_folder: str,
    cwd: str,
    diff: str,
    budget: float,
    recorder: Sequence[str] = RECORDER,
    silent: str | None = None,
) -> Verification:
    """Run a recorded command again in a copy of ``cwd`` with a diff applied, at most ``budget`` seconds.

    ``silent`` is the cause of a training that failed without a word: its invariant is looked at once more there.
    Raises ``InputError`` where the diff does not apply or the folder is too large, ``RecordError`` where the
    run cannot be read. The kernel lets the program write beneath the copy only.
    """
    return _again(run_folder, cwd, diff, budget, recorder, silent)


def run_again(
    run_folder: str, cwd: str, budget: float, recorder: Sequence[str] = RECORDER, silent: str | None = None
) -> Verification:
    """Run a recorded command again in a copy of ``cwd`` as it is now, at most ``budget`` seconds.

    ``silent``, and what it raises, as in ``try_in_copy``.
    """
    return _again(run_folder, cwd, "", budget, recorder, silent)


def _again(
    run_folder: str, cwd: str, diff: str, budget: float, recorder: Sequence[str], silent: str | None
) -> Verification:
    before = RunFolder(run_folder).run()
    with program_copied(cwd) as copy:
        if diff:
            apply_diff(diff, copy.path)
        call = again.endless_call(RunFolder(run_folder))
        if call is not None:
            replayed = again.replay_fresh(RunFolder(run_folder), call, budget, copy=copy.path)
            return _call_judged(before, replayed, copy.copied)
        ran = copy.record(before, budget, recorder)
        if ran.ended and any(word in ran.output for word in DENIED):
            line = next(x for x in reversed(ran.output.splitlines()) if any(word in x for word in DENIED))
            raise InputError(
                "verify-outside",
                f"the program writes outside of its folder, which a copy of it may not: {line.strip()[:200]}",
                "let it write beneath its own folder, or verify by hand",
            )
        judged = _judged(before, _second(ran), copy.copied, budget)
        if not judged.passed or silent is None:
            return judged
        broken = still_broken(RunFolder(ran.record), silent, AUDITED_TIMES * budget)
        return replace(judged, passed=not broken, text=_told(judged.text, silent, broken))


def _told(text: str, silent: str, broken: str) -> str:
    return f"{text}, but {broken}" if broken else f"{text}, and an audit no longer shows {silent}"


@dataclass(frozen=True)
class _Second:
    """The second run: its record, how far it came, how its command ended (None: stopped), and how long it took."""

    run: Run | None
    steps: int
    last_loss: float | None
    ended: int | None
    seconds: float
    output: str

    @property
    def reached(self) -> str:
        loss = f", last loss {self.last_loss:.4g}" if self.last_loss is not None else ""
        return f"{self.steps} optimizer steps{loss}" if self.steps else "no optimizer step seen"


def _second(ran: Recorded) -> _Second:
    folder, ended, seconds, output = RunFolder(ran.record), ran.ended, ran.seconds, ran.output
    try:
        run = folder.run()
    except RecordError:
        return _Second(None, 0, None, ended, seconds, output)
    rows = max((reading.rows for reading in folder.journals().values()), key=len, default=())
    last = dict(zip(rows[-1].columns, rows[-1].values, strict=False)) if rows else {}
    return _Second(run, rows[-1].step + 1 if rows else 0, last.get("loss"), ended, seconds, output)


def _judged(before: Run, second: _Second, copied: Copied, budget: float) -> Verification:
    after, ended = second.run, second.ended
    # A command that we stopped ended by our own signal.
    failing = [s.message for s in after.symptoms if s.kind != "signal" or ended is not None] if after else []
    if after is not None and ended is not None:
        failing += [
            f"{e.text} was expected, and it was {e.where}" for e in after.expectations if e.met is None
        ]
    values: dict[str, Any] = {
        "seconds": round(second.seconds, 2),
        "exit_code": ended if after is None or after.exit_code is None else after.exit_code,
        "steps": second.steps,
        "last_loss": second.last_loss,
        "symptoms": failing,
        "observed": to_plain([s for s in after.symptoms if s.kind != "signal" or ended is not None])
        if after
        else None,
        "copied_files": copied.files,
        "written_through": copied.written_through(),
    }
    earlier = f"; before: {before.symptoms[0].message}" if before.symptoms else ""
    if failing:
        text = (
            f"the command still fails after {second.seconds:.1f} s, {second.reached}: {failing[0]}{earlier}"
        )
    elif ended is None:
        return _outlived(before, second, values, budget)
    elif after is None:
        last = second.output.strip().splitlines()[-1:] or [""]
        text = f"the command left no record: exit code {ended}, {last[0][:200]}"
    elif values["exit_code"] != 0:
        text = f"the command ended with exit code {values['exit_code']} after {second.seconds:.1f} s{earlier}"
    elif second.last_loss is not None and not math.isfinite(second.last_loss):
        text = f"the command ended with exit code 0, but its last loss is {second.last_loss}{earlier}"
    else:
        text = f"the command ran to its end in {second.seconds:.1f} s, {second.reached}, exit code 0{earlier}"
        return Verification(True, text, values)
    return Verification(False, text, values)


def _call_judged(before: Run, replay: dict[str, Any], copied: Copied) -> Verification:
    """A program that serves: the recorded call, made once more with the model that the program builds now."""
    earlier = f"; before: {before.symptoms[0].message}" if before.symptoms else ""
    gone = replay["status"] == "replayed" and replay["raised"] is None and not replay["bad_outputs"]
    values = {
        "symptoms": [] if gone else [s.message for s in before.symptoms[:1]],
        "raised": replay.get("raised"),
        "bad_outputs": replay.get("bad_outputs"),
        "copied_files": copied.files,
    }
    if replay["status"] != "replayed":
        return Verification(False, f"the recorded call could not be made again: {replay['why']}", values)
    if replay["raised"] is not None:
        return Verification(False, f"the recorded call still raises {replay['raised']}{earlier}", values)
    if replay["bad_outputs"]:
        return Verification(False, f"the recorded call's output is still not finite{earlier}", values)
    return Verification(True, f"the recorded call is answered, and its output is finite{earlier}", values)


def _outlived(before: Run, second: _Second, values: dict[str, Any], budget: float) -> Verification:
    """A command that was stopped at the budget's end: it passed only if it got beyond the step that failed."""
    failed_at = next((s.step for s in before.symptoms if s.step is not None), None)
    stopped = f"stopped after {budget:.0f} s, before its end"
    if failed_at is not None and second.steps > failed_at + 1:
        text = f"no symptom at step {failed_at}, where it failed before, nor up to step {second.steps - 1}; {stopped}"
        return Verification(True, text, values)
    where = f"the failing step {failed_at} was not passed" if failed_at is not None else "nothing is shown"
    return Verification(False, f"the command was {stopped} ({second.reached}); {where}", values)
