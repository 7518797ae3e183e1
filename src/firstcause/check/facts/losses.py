"""Which loss is trained on, by the losses that the code makes or calls."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact

LOSSES = {
    "CrossEntropyLoss": "cross_entropy", "BCELoss": "bce", "BCEWithLogitsLoss": "bce", "MSELoss": "mse", "L1Loss": "mae",
    "HuberLoss": "huber", "SmoothL1Loss": "huber", "CTCLoss": "ctc", "TripletMarginLoss": "triplet", "KLDivLoss": "kl",
    "NLLLoss": "nll", "HingeEmbeddingLoss": "hinge",
}  # fmt: skip
FUNCTIONS = {
    "cross_entropy": "cross_entropy", "binary_cross_entropy": "bce", "binary_cross_entropy_with_logits": "bce",
    "mse_loss": "mse", "l1_loss": "mae", "huber_loss": "huber", "smooth_l1_loss": "huber", "ctc_loss": "ctc",
    "triplet_margin_loss": "triplet", "kl_div": "kl", "nll_loss": "nll",
}  # fmt: skip


def loss_facts(code: Code) -> Iterator[Fact]:
    """One fact for each loss of torch."""
    for name, plain in LOSSES.items():
        for call in code.calls(f"torch.nn.{name}"):
            yield Fact("loss", plain, call.site, name)
    for name, plain in FUNCTIONS.items():
        for call in code.calls(f"torch.nn.functional.{name}"):
            yield Fact("loss", plain, call.site, name)
