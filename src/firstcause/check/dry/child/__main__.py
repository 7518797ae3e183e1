"""The sealed child: ``python -I -m firstcause.check.dry.child JOB``, where JOB is a JSON object.

``script``, ``arguments``, ``folder`` (the user's), ``search`` (for imports), ``scratch``, ``seconds`` of CPU, ``until`` when by
the monotonic clock, ``launched`` (by a starter of ranks), ``patience`` (with loops), ``channel`` (a descriptor that findings
are written to).
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NoReturn


class Refusals(list[Any]):
    """What the seal refused, each told as it is added."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self.tell = tell

    def append(self, error: Any) -> None:
        super().append(error)
        self.tell(f"refused: {error.message}")


def main(text: str) -> NoReturn:
    job: dict[str, Any] = json.loads(text)
    import torch
    import torch.utils.data
    import torch.utils.data.distributed

    torch.set_num_threads(1)
    from firstcause.check.dry.child import clock, due, mistakes, prepared, program, seccomp
    from firstcause.check.dry.child.session import Session
    from firstcause.sandbox import refusal
    from firstcause.sandbox.seal import seal

    session = Session(job["folder"], job["channel"], job["seconds"], job.get("patience", 1))
    modes = prepared.prepare(session, job["launched"])
    # Told at once: who is refused something may never come to an end.
    refusal._refused = Refusals(session.note)
    report = seal(job["scratch"], frozenset([job["channel"]]))
    limited = seccomp.forbid_processes()
    if not report.kernel:
        session.note(report.reason)
    elif not limited:
        session.note("this kernel lets native code start processes: only Python's own ways are refused")
    sys.path[1:1] = job["search"]
    warnings.simplefilter("ignore")

    clock.start(job["seconds"], job["until"])
    outcome, place, why = "finished", ("", 0), ""
    try:
        with modes[0], modes[1]:
            program.run(session, job["script"], job["arguments"])
    except clock.TimeUp as error:
        clock.stop()
        outcome, place, why = "time", mistakes.where(error, session), "the budget was used up there"
    except SystemExit as error:
        if error.code not in (None, 0):
            outcome, place = "exit", mistakes.where(error, session)
            why = f"it exits with {error.code}"
    except BaseException as error:  # noqa: BLE001 - whatever ends the program is what is told
        clock.stop()
        outcome, place = "error", mistakes.where(error, session)
        why = mistakes.tell(error, session)
        if os.environ.get("FIRSTCAUSE_DEBUG"):
            session.note("".join(traceback.format_exception(error))[-3000:])
    clock.stop()
    session.emit("ended")
    session.settle()
    due.tell(session)
    session.end(outcome, place, why)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
