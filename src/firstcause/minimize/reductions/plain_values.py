"""Give tensors values that a person would write: random ones first, then one number throughout, then a range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from firstcause.minimize.program import Leaf, Program

FEW, MOST_DECIMALS = 16, 8


def plain_values(program: Program) -> Iterator[Program]:
    for number, leaf in program.leaves.items():
        rank = plainness(leaf)
        for made in expressions(leaf):
            if order(made) < rank:
                yield replace(program, leaves={**program.leaves, number: replace(leaf, made=made)})
        if leaf.made is None and leaf.value.numel() > 1:
            yield from extreme_rows(program, number, leaf)
        if leaf.made is None and leaf.value.is_floating_point() and leaf.value.numel() <= FEW:
            for digits in (1, 2, 4):
                short = torch.round(leaf.value, decimals=digits)
                if digits < decimals(leaf.value):
                    yield replace(program, leaves={**program.leaves, number: replace(leaf, value=short)})


def expressions(leaf: Leaf) -> Iterator[tuple[Any, ...]]:
    value = leaf.value
    if value.device.type == "meta":
        yield ("zeros", 0)
        return
    if value.is_floating_point() or value.is_complex():
        yield ("randn",)
        yield ("rand",)
        yield ("ones", 1.0)
        yield ("zeros", 0.0)
        if value.numel() and not value.is_complex():
            finite = value[torch.isfinite(value)].float()
            ends = [finite.min().item(), finite.max().item()] if finite.numel() else []
            odd = [x for x in (float("nan"), float("inf"), float("-inf")) if has(value, x)]
            yield from (("full", float(f"{x:.6g}")) for x in (*ends, *odd))
        return
    yield ("zeros", 0)
    if value.dtype is torch.bool:
        yield ("ones", True)
        return
    yield ("ones", 1)
    if value.numel():
        yield from (("full", int(x)) for x in (value.max(), value.min()))
        yield ("arange",)
        yield ("randint", max(int(value.max()) + 1, 1))


def decimals(value: torch.Tensor) -> int:
    """After how many decimals all values end."""
    exact = (n for n in range(MOST_DECIMALS) if torch.equal(torch.round(value, decimals=n), value))
    return next(exact, MOST_DECIMALS)


def has(value: torch.Tensor, x: float) -> bool:
    return bool(torch.isnan(value).any()) if x != x else bool((value == x).any())


ORDER = ("randn", "rand", "ones", "zeros", "full", "arange", "randint")


def order(made: tuple[Any, ...]) -> int:
    return ORDER.index(made[0])


def plainness(leaf: Leaf) -> int:
    return len(ORDER) if leaf.made is None else order(leaf.made)


def extreme_rows(program: Program, number: int, leaf: Leaf) -> Iterator[Program]:
    """Only the row of the largest or the smallest value, of every tensor that has as many rows."""
    if leaf.value.dim() == 0 or leaf.value.shape[0] < 2 or leaf.value.device.type == "meta":
        return
    rows = leaf.value.shape[0]
    flat = leaf.value.reshape(rows, -1)
    if not flat.shape[1] or flat.is_complex():
        return
    worst = torch.nan_to_num(flat.float(), nan=float("inf"))
    for row in dict.fromkeys((int(worst.amax(1).argmax()), int(worst.amin(1).argmin()))):
        one = {
            n: replace(f, value=f.value[row : row + 1].contiguous())
            for n, f in program.leaves.items()
            if f.value.dim() and f.value.shape[0] == rows and n != number
        }
        mine = replace(leaf, value=leaf.value[row : row + 1].contiguous())
        yield replace(program, leaves={**program.leaves, **one, number: mine})
        yield replace(program, leaves={**program.leaves, number: mine})
