"""Jobs through submitit: of a Slurm cluster where there is one, else processes of this machine."""

from __future__ import annotations

import math
import os
import shutil
from dataclasses import replace
from typing import Any

from firstcause.lab.executors import (
    Executor,
    Job,
    Over,
    Settings,
    here,
    missing,
    refused,
    travelling,
    uses_card,
)
from firstcause.record.folder import RunFolder

# Jobs that may be in the queue at once; the engine decides how many of them run.
WIDTH = 16
# Minutes that a job is granted beside its own time, for its start.
START_MINUTES = 2


class Jobs:
    """Jobs of one executor of submitit's, whose files lie in the run's folder."""

    def __init__(self, executor: Any, failed: tuple[type[Exception], ...], files: str) -> None:
        self.executor, self.failed, self.files, self.width = executor, failed, files, WIDTH

    def run(self, job: Job) -> Over:
        minutes = math.ceil(job.seconds / 60) + START_MINUTES
        sent = replace(job, environment=travelling(job.environment))
        self.executor.update_parameters(timeout_min=minutes)
        try:
            over: Over = self.executor.submit(here.run_arrived, sent).result()
        except self.failed as error:
            raise OSError(f"submitit lost the job: {str(error).strip().splitlines()[-1]}") from error
        return over

    def close(self) -> None:
        # Each job has been waited for, and what it said was its command's.
        shutil.rmtree(self.files, ignore_errors=True)


def start(folder: RunFolder, settings: Settings) -> Executor:
    """submitit's AutoExecutor; settings are its parameters (``slurm_partition=gpu``), and ``cluster=local`` or ``slurm``."""
    try:
        import submitit
        from submitit.core import utils
    except ModuleNotFoundError as error:
        raise missing("submitit") from error
    given = dict(settings)
    cluster = given.pop("cluster", None)
    files = os.path.join(folder.path, "jobs")
    try:
        executor = submitit.AutoExecutor(folder=files, cluster=cluster)
        if uses_card(folder):
            given.setdefault("gpus_per_node", 1)
        executor.update_parameters(name="firstcause", **given)
    except (RuntimeError, ValueError, NameError, AssertionError) as error:
        shutil.rmtree(files, ignore_errors=True)
        raise refused("submitit", error) from error
    return Jobs(executor, (utils.UncompletedJobError, utils.FailedSubmissionError), files)
