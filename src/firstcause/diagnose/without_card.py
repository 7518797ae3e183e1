"""The replay of a step that ran on the CPU of a machine with a card, where no fork may run backward."""

from __future__ import annotations

from firstcause.diagnose.copied_replay import Facts, replayed_in_copy
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder


def replayed_without_card(folder: RunFolder, failure: Facts | None, lab: Lab | None) -> Facts | None:
    """A failure whose fork was refused, with the replay of the same failure in a copy that sees no card.

    Autograd starts threads for each card that it sees, and refuses a fork from then on, whether the program uses
    the card or not. Without one in sight the program runs from its start again and is replayed where it fails:
    graphs, arrays and objects are then the real ones, which a saved state cannot give back. The failure is handed
    back as it was where it needs none of this.
    """
    if failure is None or not failure.get("refused_in_fork") or "replay" in failure:
        return failure
    return replayed_in_copy(folder, failure, lab, {"CUDA_VISIBLE_DEVICES": ""})
