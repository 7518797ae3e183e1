"""``run --on-failure CMD``: one command after a failure, for a mail or a chat; whatever it does changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import time

from firstcause.schema import Run

SECONDS = 60.0


def wanted(run: Run) -> bool:
    """Whether a run has failed; one that its user has ended by Ctrl-C has not."""
    interrupted = run.signal == signal.SIGINT or run.exit_code == 128 + signal.SIGINT
    return bool(run.symptoms) and not interrupted


def call(command: str, run: Run, record: str, summary: str) -> str:
    """Run the command in a shell, with what is known of the failure in its environment; what went wrong, or nothing.

    It may take a minute. Its output goes to standard error, since standard output is the program's.
    """
    first = run.symptoms[0]
    facts = {
        "FIRSTCAUSE_RUN": record,
        "FIRSTCAUSE_RUN_ID": run.id,
        "FIRSTCAUSE_SUMMARY": summary,
        "FIRSTCAUSE_SYMPTOM": first.kind,
        "FIRSTCAUSE_STEP": "" if first.step is None else str(first.step),
        "FIRSTCAUSE_SITE": "" if first.site is None else str(first.site),
        "FIRSTCAUSE_EXIT_CODE": "" if run.exit_code is None else str(run.exit_code),
        "FIRSTCAUSE_SIGNAL": "" if run.signal is None else str(run.signal),
        "FIRSTCAUSE_FOLDER": run.folder,
    }
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            shell=True,
            env={**os.environ, **{k: v.replace("\0", "") for k, v in facts.items()}},
            stdin=subprocess.DEVNULL,
            stdout=2,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return f"--on-failure could not be started: {error}"
    try:
        code = process.wait(SECONDS)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        return f"--on-failure was ended after {SECONDS:.0f} s"
    took = time.monotonic() - began
    ended = f"code {code}" if code >= 0 else f"signal {-code}"
    return f"--on-failure ended with {ended} after {took:.1f} s" if code else ""
