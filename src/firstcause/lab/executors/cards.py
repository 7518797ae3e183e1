"""Jobs side by side on the cards of this machine, each with one to itself, which it knows as the first."""

from __future__ import annotations

import os
import queue

from firstcause.errors import InputError
from firstcause.lab.executors import Executor, Job, Over, Settings, here
from firstcause.record.folder import RunFolder

DRIVER = "/proc/driver/nvidia/gpus"


class Cards:
    """The cards that this process may use, as CUDA_VISIBLE_DEVICES names them."""

    def __init__(self, names: list[str]) -> None:
        self.width = len(names)
        self.free: queue.Queue[str] = queue.Queue()
        for name in names:
            self.free.put(name)

    def run(self, job: Job) -> Over:
        card = self.free.get()
        try:
            # An experiment that is to see none is given none.
            seen = job.environment.get("CUDA_VISIBLE_DEVICES") != ""
            own = dict(job.environment) | ({"CUDA_VISIBLE_DEVICES": card} if seen else {})
            return here.run(Job(job.command, job.folder, own, job.output, job.seconds))
        finally:
            self.free.put(card)

    def close(self) -> None:
        """A card needs nothing."""


def start(folder: RunFolder, settings: Settings) -> Executor:
    """The visible cards, or as many as ``cards:number=N`` says. Raises ``InputError`` where there is none."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        # Asked without torch: its import would take longer than a short experiment.
        count = len(os.listdir(DRIVER)) if os.path.isdir(DRIVER) else 0
        names = [str(i) for i in range(count)]
    else:
        names = [name for name in visible.split(",") if name]
    number = settings.get("number", len(names))
    if set(settings) - {"number"} or not isinstance(number, int):
        raise InputError(
            "no-executor", "cards takes one setting, the number of cards", "write cards:number=2"
        )
    names = names[:number]
    if not names:
        raise InputError(
            "no-executor",
            "there is no card here for the experiments",
            "leave out --executor, or set CUDA_VISIBLE_DEVICES",
        )
    return Cards(names)
