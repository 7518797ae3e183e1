"""Jobs as tasks of a Ray cluster: that of RAY_ADDRESS, or of the setting ``address``, or one that is started here."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import firstcause
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


class Tasks:
    """Tasks with the resources that ``ray.remote`` is told."""

    def __init__(self, ray: Any, resources: Settings, own: bool) -> None:
        self.ray, self.own = ray, own
        # A task that was lost with its node is an experiment that is lost: it would take its time again.
        self.task = ray.remote(here.run_arrived).options(max_retries=0, **resources)
        there = ray.cluster_resources()
        asked = {"CPU": float(resources.get("num_cpus", 1)), "GPU": float(resources.get("num_gpus", 0))}
        places = [int(there.get(kind, 0) // each) for kind, each in asked.items() if each]
        self.width = max(1, min(places, default=1))

    def run(self, job: Job) -> Over:
        sent = replace(job, environment=travelling(job.environment))
        try:
            over: Over = self.ray.get(self.task.remote(sent))
        except self.ray.exceptions.RayError as error:
            raise OSError(f"Ray lost the task: {str(error).strip().splitlines()[-1]}") from error
        return over

    def close(self) -> None:
        if self.own:
            self.ray.shutdown()


def start(folder: RunFolder, settings: Settings) -> Executor:
    """Join the cluster; settings other than ``address`` go to ``ray.remote``, such as ``num_gpus=1``."""
    # Ray would replace the environment's choice of cards for a task that asks for none: an experiment says so itself.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise missing("ray") from error
    path = os.path.dirname(os.path.dirname(os.path.abspath(firstcause.__file__)))
    own = not ray.is_initialized()
    resources: Settings = {k: v for k, v in settings.items() if k != "address"}
    if uses_card(folder):
        resources.setdefault("num_gpus", 1)
    try:
        if own:
            paths = filter(None, [path, os.environ.get("PYTHONPATH")])
            ray.init(
                address=settings.get("address"),
                log_to_driver=False,
                logging_level="ERROR",
                runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}},
            )
        return Tasks(ray, resources, own)
    except (ValueError, TypeError, RuntimeError, ConnectionError) as error:
        if own and ray.is_initialized():
            ray.shutdown()
        raise refused("ray", error) from error
