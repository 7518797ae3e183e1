"""What a healthy-looking training does that nobody means: one watcher a file, all of them in one sealed process.

A watcher sees and changes nothing; what it found is in the facts of the arm, under its module's name. Each module here
holds a class ``Watch``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from firstcause.record.observe.recorder import Recorder

WATCHERS = (
    "pairs_compared",
    "widths_met",
    "parts_reached",
    "gradients_cleared",
    "activations_before_loss",
    "memory_growth",
    "graphs_at_evaluation",
    "hooks_kept",
    "parameters_held",
    "modes_of_steps",
    "evaluations_repeated",
    "schedule_steps",
    "targets_shifted",
    "padding_counted",
    "signs_of_losses",
    "margins_of_losses",
    "units_at_start",
    "weights_summed",
    "axes_swapped",
    "sums_in_loss",
    "extremes_of_batch",
    "errors_averaged",
    "latents_weighed",
    "weights_lost",
    "terms_of_loss",
    "targets_in_input",
    "values_ahead",
    "values_left",
    "data_written",
    "worker_draws",
    "batch_order",
    "codes_used",
    "averages_rounded",
    "factors_of_zero",
    "functions_derived",
    # Before the other that stands around load_state_dict: it passes over that one's frame.
    "attributes_left",
    "states_loaded",
    "frozen_parts",
)


@dataclass(frozen=True)
class Call:
    """One call of a torch function, after it has returned: its name without underscores around it, and what it took and gave."""

    name: str
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any


class Watcher:
    """Nothing seen: what each watcher overrides a few methods of. Runs in a sealed child only."""

    # The names of the torch functions that ``called`` is to be told of.
    CALLS: frozenset[str] = frozenset()

    def __init__(self, settings: dict[str, Any], recorder: Recorder) -> None:
        self.settings, self.recorder = settings, recorder

    def start(self) -> None:
        """At the fork: the model and the optimizer exist."""

    def called(self, call: Call) -> None:
        """A function of ``CALLS`` has returned; ``sys._getframe`` leads from here to the user's line (``lab/places``)."""

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        """A module's forward has returned, outermost last."""

    def loss(self, value: torch.Tensor) -> None:
        """What ``backward`` is about to be called on."""

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Gradients are complete; the optimizer has not yet stepped."""

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        """The optimizer has stepped."""

    def figures(self) -> dict[str, Any]:
        """More figures for the row of the step whose gradients are complete."""
        return {}

    def facts(self) -> dict[str, Any]:
        """What was seen, in plain values; taken once, at the end."""
        return {}
