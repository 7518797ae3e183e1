"""What a smaller program has less than the step that it was made from, in words."""

from __future__ import annotations

from collections import Counter

from firstcause.minimize.program import Program

NAMED = 6


def dropped(before: Program, after: Program) -> list[str]:
    """Sentences on calls, tensors, elements, settings, devices and dtypes that were left out."""
    told = []
    gone = Counter(_short(c.name) for c in before.calls) - Counter(_short(c.name) for c in after.calls)
    if gone:
        shown = ", ".join(f"{n} {name}" for name, n in gone.most_common(NAMED))
        rest = len(gone) - NAMED
        told.append(f"{sum(gone.values())} calls: {shown}" + (f" and {rest} other kinds" if rest > 0 else ""))
    sizes = [sum(leaf.value.numel() for leaf in p.leaves.values()) for p in (before, after)]
    if sizes[0] > sizes[1]:
        told.append(
            f"{sizes[0] - sizes[1]} of {sizes[0]} elements in {len(before.leaves)} tensors, {len(after.leaves)} are left"
        )
    plain = [leaf for leaf in after.leaves.values() if leaf.made is not None]
    if plain:
        told.append(f"the captured values of {len(plain)} of {len(after.leaves)} tensors that are left")
    if _casts(before) and not _casts(after):
        told.append("the autocast region")
    for what in ("device", "dtype"):
        left_out = _of(before, what) - _of(after, what)
        if left_out:
            told.append(f"{what} {', '.join(sorted(left_out))}")
    return told


def _casts(program: Program) -> bool:
    return any(call.settings.autocast for call in program.calls)


def _of(program: Program, what: str) -> set[str]:
    return {str(getattr(leaf.value, what)) for leaf in program.leaves.values()}


def _short(name: str) -> str:
    return name.removesuffix(".__get__").rpartition(".")[2].strip("_")
