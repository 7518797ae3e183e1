"""Whether the ranks train one model together: gradients that are equal on all of them, and weights that are or are not."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.lab.counterfactual import Ran
from firstcause.specialists import ranked as ranks
from firstcause.specialists.examination import Facts


def checks(found: Ran) -> Iterator[list[Facts]]:
    """What was read of the model at one step on each rank, for the steps that all of them took."""
    own = [c["checks"] for _, c in ranks.facts_of(found, "replicas")]
    if len(own) > 1:
        yield from (list(c) for c in zip(*own, strict=False))


def gradients_shared(found: Ran) -> bool:
    """Whether the gradients were equal on all ranks at each step that was looked at, and there are some."""
    seen = [_gradients(c) for c in checks(found)]
    return bool(seen) and all(len(set(g)) == 1 and any(x is not None for x in g[0]) for g in seen)


def _gradients(check: list[Facts]) -> list[tuple[int | None, ...]]:
    return [tuple(p[3] for p in c["parameters"]) for c in check]
