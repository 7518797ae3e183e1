"""Long work in a process of its own: at most its budget, with progress, ended when the call is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver import Context

from firstcause.errors import FirstcauseError, InputError, RecordError
from firstcause.sandbox import lifetime
from firstcause.sandbox.bounded import GRACE_SECONDS

# How often the client hears of the work.
EVERY_SECONDS = 1.0
# What a command may take beyond its own budget to start and to write its answer.
SLACK_SECONDS = 30.0
LONGEST = 1800.0
_TAIL = 4000


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code, standard output, the end of standard error, and its seconds."""

    code: int
    out: str
    err: str
    seconds: float


async def work(ctx: Context[Any, Any], words: list[str], budget: float, saying: str) -> Done:
    """Run one verb of firstcause beneath the working directory.

    Raises ``InputError`` for a budget outside of 1 to ``LONGEST`` seconds, ``RecordError`` where the verb takes longer.
    """
    if not 1.0 <= budget <= LONGEST:
        message = f"a budget of {budget:g} s is outside of 1 to {LONGEST:g} s"
        raise InputError("budget-range", message, "give budget_seconds in that range")
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "firstcause", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=lifetime.bound(),
        )
        try:
            while process.returncode is None:
                spent = time.monotonic() - began
                if spent > budget + SLACK_SECONDS:
                    message = f"{saying} took more than {budget:.0f} s and was stopped"
                    raise RecordError("work-stopped", message, "call it again with a larger budget_seconds")
                await ctx.report_progress(min(spent, budget), budget, saying)
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(asyncio.shield(process.wait()), EVERY_SECONDS)
        finally:
            if process.returncode is None:
                await asyncio.shield(_stop(process))
        return Done(process.returncode or 0, _read(out), _read(err)[-_TAIL:], time.monotonic() - began)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End the command and all that it started: politely, so that its record is whole, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), GRACE_SECONDS)
            return


def _read(file: Any) -> str:
    file.seek(0)
    content: bytes = file.read()
    return content.decode("utf-8", "replace")


def error_of(done: Done) -> FirstcauseError:
    """The error that a verb ended with, as its two lines on standard error say."""
    lines = [line for line in done.err.splitlines() if line.strip()]
    said = [line.removeprefix("firstcause: ") for line in lines if line.startswith("firstcause: ")]
    hints = [line.removeprefix("next: ") for line in lines if line.startswith("next: ")]
    message = said[-1] if said else (lines[-1] if lines else f"it ended with code {done.code} and no word")
    return RecordError("verb-failed", message, hints[-1] if hints else "firstcause case show")
