"""One job as a process of this one, which it does not outlive."""

from __future__ import annotations

import subprocess
import time

from firstcause.lab.executors import Job, Over, arrived
from firstcause.sandbox import bounded


def run(job: Job) -> Over:
    """Run a job to its end or to the end of its time. Raises ``OSError`` where it cannot be started."""
    began = time.monotonic()
    with open(job.output, "wb") as output:
        process = bounded.start(job.command, job.folder, job.environment, output)
        try:
            code: int | None = process.wait(job.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = None
    return Over(code, time.monotonic() - began)


def run_arrived(job: Job) -> Over:
    """The same on the machine that an engine has chosen."""
    return run(Job(job.command, job.folder, arrived(job.environment), job.output, job.seconds))
