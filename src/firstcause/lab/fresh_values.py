"""Whether a parameter still holds what its module began with, told by its values and its count of writes. Sealed child only."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch

# Fewer values tell no distribution; more than this many tell no more.
LEAST, MOST = 24, 20_000
DRAWN = 3
MOST_COLUMNS = 2048
# A copy of the module is made: none of a module that is felt in memory.
MOST_ELEMENTS = 10_000_000
# Kolmogorov and Smirnov's bound at one in a thousand, and one at which two samples differ beyond doubt.
ALIKE, APART = 1.95, 3.5
# Fitted to the values themselves, the bound is narrower than that for two samples; the other one is for values that are
# looked at in a second way as well.
FITTED, LOOSE = 1.1, 1.63
FRESH, KEPT, UNKNOWN = "fresh", "kept", "unknown"


def freshness(module: torch.nn.Module, name: str) -> str:
    """``fresh`` as made by ``reset_parameters``; ``kept`` where something else was put there; ``unknown`` where neither shows.

    A write to ``.data`` moves no count, and a loaded state has the spread of what it was trained from: values and count
    both have to agree.
    """
    parameter = module._parameters[name]
    if parameter is None or not hasattr(module, "reset_parameters") or parameter.numel() > MOST_ELEMENTS:
        return UNKNOWN
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        try:
            drawn, writes = _drawn(module, name)
        except Exception:  # noqa: BLE001 - a module whose own reset cannot be called says nothing
            return UNKNOWN
    own, again = _sample(parameter), torch.cat([_sample(d) for d in drawn])
    if own.numel() < LEAST or bool((again == again[0]).all()):
        # Ones and zeros of a norm or a bias: written or not, they tell nothing unless they are others.
        return UNKNOWN if bool((own == again[0]).all()) or own.numel() < LEAST else KEPT
    distance = _distance(own, again)
    size = math.sqrt((own.numel() + again.numel()) / (own.numel() * again.numel()))
    more = parameter._version - writes
    if distance <= ALIKE * size and more <= 0:
        return FRESH
    # One write more may be an initialisation of the program's own.
    drawn_otherwise = more <= 1 and _is_drawn(own)
    return KEPT if (more > 0 or distance > APART * size) and not drawn_otherwise else UNKNOWN


def is_noise(values: torch.Tensor) -> bool:
    """Whether a table is drawn number by number: from one distribution, and without a direction that its rows share.

    Vectors that were learned have a few directions in which most of them lie.
    """
    table = values.detach().float().cpu()
    if table.dim() != 2 or table.shape[1] > MOST_COLUMNS:
        return False
    table = table[table.abs().sum(1) > 0][:MOST]
    rows, columns = table.shape
    if rows * columns < LEAST or columns < 2 or not _is_drawn(_sample(table), LOOSE):
        return False
    table = (table - table.mean()) / table.std()
    # The largest singular value of noise, exceeded once in a hundred tables.
    longest = math.sqrt(float(torch.linalg.eigvalsh(table.T.double() @ table.double())[-1]))
    return longest <= math.sqrt(rows) + math.sqrt(columns) + 3


def _drawn(module: Any, name: str) -> tuple[list[torch.Tensor], int]:
    """Some fresh values of a copy, and how many writes one reset makes."""
    other = copy.deepcopy(module)
    found, writes = [], 0
    for _ in range(DRAWN):
        before = other._parameters[name]._version
        other.reset_parameters()
        writes = other._parameters[name]._version - before
        found.append(other._parameters[name].detach().clone())
    return found, writes


def _sample(values: torch.Tensor) -> torch.Tensor:
    flat = values.detach().flatten().float()
    return flat[:: max(1, flat.numel() // MOST)].cpu()


def _is_drawn(values: torch.Tensor, bound: float = FITTED) -> bool:
    """Whether values look as drawn from one uniform or one normal distribution, or are all the same."""
    spread, size = values.std(), math.sqrt(values.numel())
    if not spread > 0:
        return True
    ranks = (torch.arange(len(values)) + 0.5) / len(values)
    ordered = ((values - values.mean()) / spread).sort().values
    normal = (torch.special.ndtr(ordered) - ranks).abs().max()
    low, high = ordered[0], ordered[-1]
    uniform = ((ordered - low) / (high - low) - ranks).abs().max()
    return bool(min(normal, uniform) < bound / size)


def _distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest distance between two empirical distributions."""
    points = torch.cat([one, other])
    first, second = one.sort().values, other.sort().values
    below = torch.searchsorted(first, points, right=True) / len(first)
    return float((below - torch.searchsorted(second, points, right=True) / len(second)).abs().max())
