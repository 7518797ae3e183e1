"""The loss functions that are looked at, and which of their arguments are prediction and target."""

from __future__ import annotations

from typing import Any

LOSSES = frozenset(
    (  # noqa: SIM905
        "cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits mse_loss l1_loss "
        "smooth_l1_loss huber_loss kl_div gaussian_nll_loss poisson_nll_loss"
    ).split()
)
# Their prediction and target must be of one size.
ELEMENTWISE = frozenset(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])


def handed(name: str, args: Any, kwargs: Any) -> tuple[Any, ...] | None:
    """Prediction and target of a call; None where one of them is no tensor that is known."""
    found = list(args[:2])
    for key in ("input", "target"):
        if key in kwargs:
            found.append(kwargs[key])
    return tuple(found) if len(found) == 2 and all(hasattr(f, "shape") for f in found) else None
