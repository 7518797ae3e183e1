"""Whether a training still breaks the invariant that a silent cause was established on."""

from __future__ import annotations

from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Hypothesis, Symptom
from firstcause.specialists import CAUSES
from firstcause.specialists.audits import audited
from firstcause.specialists.examination import Examination
from firstcause.specialists.specialist import AloneCause, SilentCause

# The watchers that show a cause; the rest of an audit would cost several times as much and tells nothing of it. A cause that
# is not named here is looked at by all of them.
SHOWN_BY = {
    "bad-initialisation": ("units_at_start",),
    "broadcast-in-loss": ("pairs_compared",),
    "codebook-collapse": ("codes_used",),
    "dead-relu-init": ("units_at_start",),
    "detached-encoder": ("parts_reached",),
    "dropout-active-at-eval": ("evaluations_repeated",),
    "duplicated-worker-seed": ("worker_draws",),
    "eval-mode-in-training": ("modes_of_steps",),
    "frozen-by-mistake": ("frozen_parts",),
    "inplace-data-mutation": ("data_written",),
    "label-mismatch": ("pairs_compared",),
    "label-shift": ("targets_shifted",),
    "loss-term-dominates": ("terms_of_loss",),
    "missing-zero-grad": ("gradients_cleared",),
    "module-prefix-strict-false": ("states_loaded",),
    "not-shuffled": ("batch_order",),
    "optimizer-before-params-replaced": ("parameters_held",),
    "optimizer-step-missing": ("gradients_cleared",),
    "padding-in-loss": ("padding_counted",),
    "params-missing-from-optimizer": ("parameters_held",),
    "saturated-activation": ("units_at_start",),
    "scheduler-before-optimizer": ("schedule_steps",),
    "scheduler-per-batch": ("schedule_steps",),
    "seed-incomplete": ("modes_of_steps",),
    "silent-broadcast": ("widths_met",),
    "sigmoid-before-bce-logits": ("activations_before_loss",),
    "softmax-before-cross-entropy": ("activations_before_loss",),
    "target-leakage": ("targets_in_input",),
    "tensor-attribute-not-a-buffer": ("attributes_left",),
    "transpose-by-view": ("axes_swapped",),
    "unregistered-submodules": ("parameters_held",),
    "vanishing-gradient": ("units_at_start",),
    "wrong-backward-formula": ("functions_derived",),
    "wrong-reduction": (
        "sums_in_loss",
        "extremes_of_batch",
        "errors_averaged",
        "latents_weighed",
        "weights_lost",
    ),
    "wrong-sign-loss": ("signs_of_losses", "margins_of_losses"),
    "wrong-softmax-dim": ("weights_summed",),
    "zero-grad-before-step": ("gradients_cleared",),
}


def still_broken(folder: RunFolder, cause: str, seconds: float) -> str:
    """What the audit of this run shows of ``cause``, in a sentence; empty where it shows nothing, or nothing that is proven.

    Runs the program again, sealed, for at most so many seconds. Says so where the audit could not be made: an invariant
    that was not looked at is not known to hold.
    """
    module = CAUSES[cause]
    if not isinstance(module, SilentCause):
        return ""
    lab = Lab(folder, {}, seconds, watch=SHOWN_BY.get(cause, ()))
    examination = Examination(folder, folder.run(), Symptom("invariant", ""), None, lab)
    alone = module.alone(examination) if isinstance(module, AloneCause) else None
    found = alone if alone is not None else audited(lab)
    if not found.rows:
        return f"it could not be looked at again ({found.why or f'its audit ended by {found.ended}'})"
    seen = module.seen(found, examination)
    if seen is None:
        return ""
    # What is seen may be meant; as the diagnosis did, only what its experiment proves counts.
    settled = module.settle(Hypothesis(cause, None, 0), examination)
    return seen if settled.status == "confirmed" else ""
