"""From a recorded failure to a script: the step replayed with a tape, made smaller, and tried in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

from firstcause.errors import RecordError
from firstcause.lab.counterfactual import Lab
from firstcause.lab.loading.ask import ask
from firstcause.lab.sealed import command_of, failing_step, run_sealed, unsaved
from firstcause.minimize import handles
from firstcause.minimize.ranks import parted
from firstcause.minimize.said import last_exception, plainly
from firstcause.record import ranked
from firstcause.record.folder import RunFolder
from firstcause.record.supervise import launch

TAPE = "firstcause.minimize.tape:Tape"
WHOLE = "firstcause.minimize.whole:start"
# Of the budget, for the program itself to come to the step that failed.
ARRIVAL = 30.0
# Less is not worth a start of the program.
LEAST = 5.0
# Of a training that fails without a word, so many backward passes are looked at.
STEPS = 3
TRIED = 90.0


@dataclass(frozen=True)
class Said:
    """An exception's type and plain message; ``worker``: it was raised in a worker of a loader."""

    kind: str
    said: str
    worker: bool = False


@dataclass(frozen=True)
class Reproduction:
    """A script that fails as the run did, and what it took: calls of the step, calls left, programs tried.

    ``ends``: the last line that it says. ``dropped``: what was left out, in words. ``rates``: with how many seeds the step
    failed, and the script does, of how many. ``failure``: kind, call, what, said.
    """

    script: str
    calls: int
    left: int
    tried: int
    ends: str
    dropped: tuple[str, ...] = ()
    rates: tuple[int, ...] = ()
    failure: dict[str, str] = field(default_factory=dict)

    def lines(self) -> int:
        """Lines that are neither empty nor comments."""
        return sum(
            1 for line in self.script.splitlines() if line.strip() and not line.startswith(("#", '"""'))
        )


def reproduce(
    folder: RunFolder, failure: dict[str, Any] | None, seconds: float, invariant: str = ""
) -> Reproduction:
    """The smallest script found for a failing step, or for the exception that ended a run without one.

    ``invariant``: what a training that fails without a word breaks, by its name in ``invariants``.

    Raises ``RecordError`` where the failure cannot be brought about again, lies in no operation that is understood, or
    where the script does not fail in an empty folder as the run did.
    """
    end = time.monotonic() + seconds
    whys: list[str] = []
    said = _said(folder, failure)
    standings = ranked.standings(folder.path)
    if len(standings) > 1:
        made = _of_ranks(standings, whys)
        if made is not None:
            return made
    if invariant:
        made = _made(*_run_again(folder, seconds, None, invariant), None, whys)
        if made is not None:
            return made
    elif failure is not None and not unsaved(failure):
        made = _made(*_replayed(folder, failure, seconds), said, whys)
        if made is not None:
            return made
    elif failure is not None:
        whys.append(unsaved(failure))
    left = end - time.monotonic()
    # A value that is not finite is made anew at many places once it is in the weights.
    if left > LEAST and not invariant and said is not None:
        made = _made(*_run_again(folder, left, said), said, whys)
        if made is not None:
            return made
    left = end - time.monotonic()
    if left > LEAST and said is not None and said.worker:
        made = _of_handle(folder, left, said, whys)
        if made is not None:
            return made
    raise RecordError(
        "not-reproduced",
        f"the failure cannot be made smaller: {'; '.join(dict.fromkeys(whys))}",
        "firstcause replay shows how the step goes",
    )


def _of_ranks(standings: list[dict[str, Any]], whys: list[str]) -> Reproduction | None:
    """A script of two ranks that end as those of the run did: refused, or waiting for one another."""
    found = parted(standings)
    if found is None:
        whys.append("no collective is seen in which the ranks differ")
        return None
    first = ranked.failed_first(standings)
    if first is not None and not found.refused:
        # The others then wait for it, or lose it: that the collectives differ is what came of it.
        whys.append(f"rank {first[0]['rank']} failed first by itself, with {first[1]['type']}")
        return None
    kind, said, last = _alone(found.script)
    if not kind or (found.refused and said != plainly(found.refused)):
        whys.append(f"two ranks that differ in the same way end with: {last or 'nothing'}")
        return None
    failure = {"kind": "raised", "call": "", "what": kind, "said": said}
    left = found.script.count("dist.") - 1
    dropped = (f"all but {left} of {found.calls} collectives, the model and its data",)
    return Reproduction(found.script, found.calls, left, 1, last, dropped, (), failure)


def _of_handle(folder: RunFolder, seconds: float, said: Said, whys: list[str]) -> Reproduction | None:
    """A script of workers that read one open file, where the run's workers do."""
    found = ask(Lab(folder, {}, seconds), raised=said.kind)
    seen = [] if isinstance(found, str) else found.get("seen") or []
    loader = next((s for s in seen if (s.get("handle") or {}).get("read")), None)
    if loader is None:
        whys.append(f"no file is seen that its workers share{f': {found}' if isinstance(found, str) else ''}")
        return None
    script = handles.script_of(loader["handle"], said.kind, int(loader.get("workers") or 0))
    ends = ""
    for number in range(handles.RUNS):
        kind, text, ends = _alone(script)
        if text != handles.SAID:
            whys.append(
                f"the script of a shared file ended otherwise in run {number + 1}: {ends or 'with nothing'}"
            )
            return None
    failure = {"kind": "raised", "call": "", "what": kind, "said": text}
    dropped = ("the dataset's own records, decoding and transforms, the model and its training",)
    # No rates: how often the program itself fails is not known, it has failed once.
    return Reproduction(script, 0, 0, handles.RUNS, ends, dropped, (), failure)


def _replayed(folder: RunFolder, failure: dict[str, Any], seconds: float) -> tuple[dict[str, Any], str]:
    """What the tape of the failing step gave, from its saved state on; and what the process said last."""
    extra = failing_step(folder, failure) | {
        "FIRSTCAUSE_DEEP": TAPE,
        "FIRSTCAUSE_MINIMIZE_SECONDS": str(max(seconds - ARRIVAL, seconds / 2)),
    }
    ended = run_sealed(folder, extra, {}, seconds + ARRIVAL, command=command_of(failure))
    facts = _read(ended.lines)
    return facts.get("trace") or {}, str(facts.get("why") or ended.said)


def _said(folder: RunFolder, failure: dict[str, Any] | None) -> Said | None:
    """The exception that the recorded failure is, or that ended the run; None where it is no exception."""
    if failure is not None and failure.get("exception"):
        first = failure["exception"][0]
        kind, message = str(first["type"]), str(first["message"])
    elif failure is not None:
        return None
    else:
        raised = [s for s in folder.run().symptoms if s.kind == "exception"]
        if not raised:
            return None
        kind, _, message = raised[0].message.partition(": ")
    worker = message.startswith("Caught ") and "in DataLoader worker" in message[:100]
    if worker:
        return Said(*last_exception(message)[:2], worker=True)
    return Said(kind, plainly(message))


def _run_again(
    folder: RunFolder, seconds: float, said: Said | None, invariant: str = ""
) -> tuple[dict[str, Any], str]:
    """What the tape of the whole program gave, from its first statement on."""
    # No arms, after more steps than any run has: the recorder of that process only looks on.
    idle = {"from": "start", "steps": 1, "after": 1 << 60, "arms": [], "seconds": seconds, "arm_seconds": 0}
    plan = {"steps": STEPS, "function": invariant == "derived"} if invariant else {}
    files = {"FIRSTCAUSE_WATCH": plan, "FIRSTCAUSE_ARMS": idle}
    extra = {"FIRSTCAUSE_DEEP": WHOLE, "FIRSTCAUSE_MINIMIZE_SECONDS": str(seconds / 2)}
    if invariant:
        extra["FIRSTCAUSE_MINIMIZE_INVARIANT"] = invariant
    if said is not None and said.worker:
        extra["FIRSTCAUSE_MINIMIZE_WORKERS"] = "1"
    ended = run_sealed(folder, extra, files, seconds + ARRIVAL)
    facts = _read(ended.lines)
    return facts.get("trace") or {}, str(facts.get("why") or ended.said)


def _made(trace: dict[str, Any], last: str, then: Said | None, whys: list[str]) -> Reproduction | None:
    """The script, where there is one that fails alone as the program did; else why not is added to ``whys``."""
    if not trace.get("scripts"):
        whys.append(trace.get("why") or last or "the process ended without a word")
        return None
    failure = dict(trace["failure"])
    if then is not None and then.worker and trace.get("collated"):
        # A worker stacks into shared memory, which refuses in other words.
        failure |= {"what": then.kind, "said": then.said}
    elif then is not None and (failure["what"], failure["said"]) != (then.kind, then.said):
        whys.append(f"the program raised {then.kind}, and {failure['what']} when it was run again")
        return None
    for lines in trace["scripts"]:
        script = "\n".join(lines) + "\n"
        ends, same = tried_alone(script, failure)
        if same:
            break
    else:
        whys.append(f"the script that was left ends in an empty folder with: {ends or 'nothing'}")
        return None
    return Reproduction(
        script, trace["calls"], trace["left"], trace["tried"], ends,
        tuple(trace["dropped"]), tuple(trace["rates"]), failure,
    )  # fmt: skip


def tried_alone(script: str, failure: dict[str, str]) -> tuple[str, bool]:
    """The last line that a script says in an empty folder with a Python of its own, and whether it fails as it should."""
    kind, said, last = _alone(script)
    wanted = (failure["what"], failure["said"]) if failure["kind"] == "raised" else ("AssertionError", said)
    if failure["what"] == "derived":
        # Which of gradcheck's numbers differ is said by gradcheck itself.
        wanted = ("GradcheckError", said)
    return last, bool(kind) and (kind, said) == wanted


def _alone(script: str) -> tuple[str, str, str]:
    """Type, plain message and first line of the exception that a script ends with; empty where it ends with none."""
    with tempfile.TemporaryDirectory(prefix="firstcause-") as empty:
        path = os.path.join(empty, "repro.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("FIRSTCAUSE", "PYTHONPATH"))}
        try:
            done = subprocess.run(
                [launch.python(), path],
                cwd=empty,
                env=kept,
                capture_output=True,
                text=True,
                timeout=TRIED,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "", "", f"nothing within {TRIED:.0f} s"
    return last_exception(done.stderr) if done.returncode else ("", "", "")


def _read(lines: tuple[str, ...]) -> dict[str, Any]:
    for line in lines:
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            # Cut short as the process was ended.
            continue
        return found
    return {}
