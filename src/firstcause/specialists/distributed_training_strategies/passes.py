"""The passes of a training over its loaders, as a rank saw them."""

from __future__ import annotations

from firstcause.specialists.examination import Facts


def by_loader(batches: Facts, cut_off: bool = False) -> dict[int, list[Facts]]:
    """The passes in which steps were taken and that came to their end, by the loader's number.

    ``cut_off``: those too that the program left before, as ``zip(range(steps), loader)`` does.
    """
    found: dict[int, list[Facts]] = {}
    for one in batches["passes"]:
        if one["steps"] and (one["ended"] or cut_off) and one["indices"]:
            found.setdefault(one["loader"], []).append(one)
    return found
