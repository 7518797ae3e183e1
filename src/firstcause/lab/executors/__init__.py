"""Where experiments run: as processes of this one, one after the other, or side by side as jobs of an executor.

An executor is a file of this folder: ``cards`` gives each job a card of this machine, ``ray_tasks`` and ``submitit_jobs`` hand
it to an engine that the user has. Jobs read and write the run's folder, which other machines must see under the same path.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from firstcause.errors import InputError
from firstcause.record.folder import RunFolder

FILES = {"cards": "cards", "ray": "ray_tasks", "submitit": "submitit_jobs"}
# What an engine tells its jobs about the machine that they are on; all else is as it is for the user.
OF_THE_MACHINE = (
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_",
    "ROCR_",
    "HOSTNAME",
    "TMPDIR",
    "RAY_",
    "SLURM",
    "SUBMITIT_",
)


Settings = dict[str, str | int | float]


@dataclass(frozen=True)
class Job:
    """A command that is waited for: its words, folder and environment, the file of its output, seconds at most."""

    command: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    output: str
    seconds: float


@dataclass(frozen=True)
class Over:
    """How a job ended: its exit code (None where it took too long), and the seconds that it ran, once it had a place."""

    code: int | None
    seconds: float


class Executor(Protocol):
    """Runs jobs, ``width`` of them side by side, and is closed when there are no more."""

    width: int

    def run(self, job: Job) -> Over:
        """Wait for one job; called from ``width`` threads. Raises ``OSError`` where it could not be run."""

    def close(self) -> None:
        """Let go of what was started."""


@contextmanager
def opened(text: str | None, folder: RunFolder) -> Iterator[Executor | None]:
    """The executor of ``NAME`` or ``NAME:KEY=VALUE,…``, closed behind its use; None where none is named."""
    executor = named(text, folder) if text else None
    try:
        yield executor
    finally:
        if executor is not None:
            executor.close()


def named(text: str, folder: RunFolder) -> Executor:
    """The executor of that name, with its settings, which are those of its engine.

    Raises ``InputError`` for a name that there is not, settings that cannot be read, and an engine that is not installed.
    """
    name, _, rest = text.partition(":")
    if name not in FILES:
        known = ", ".join(FILES)
        raise InputError("no-executor", f"{name!r} is no executor", f"give one of {known}")
    settings: Settings = {}
    for part in filter(None, rest.split(",")):
        key, is_set, value = part.partition("=")
        if not (key and is_set and value):
            raise InputError(
                "no-executor", f"{part!r} is no setting of {name}", f"write {name}:KEY=VALUE,KEY=VALUE"
            )
        settings[key] = _number(value)
    made: Executor = importlib.import_module(f"{__name__}.{FILES[name]}").start(folder, settings)
    return made


def uses_card(folder: RunFolder) -> bool:
    """Whether the recorded run had memory on a card."""
    return any("allocated" in e for reading in folder.journals().values() for e in reading.events)


def missing(package: str) -> InputError:
    """The error for an engine that is not installed."""
    return InputError("no-executor", f"{package} is not installed", f"pip install 'firstcause[{package}]'")


def refused(engine: str, error: Exception) -> InputError:
    """The error for an engine that does not start with its settings; of what it says, the first line."""
    said = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    text = f"{engine} does not start with these settings: {said.strip()[:300]}"
    return InputError("no-executor", text, f"give settings of {engine}'s own, or leave --executor out")


def _number(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def travelling(environment: Mapping[str, str]) -> dict[str, str]:
    """What of an environment goes with a job to another machine: all but what tells of this one."""
    own = {k: v for k, v in os.environ.items() if k.startswith(OF_THE_MACHINE)}
    return {k: v for k, v in environment.items() if own.get(k) != v}


def arrived(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a job on its machine: what travelled, and what its engine tells there."""
    return {k: v for k, v in os.environ.items() if k.startswith(OF_THE_MACHINE)} | dict(environment)
