"""What `run --memory` found, as the six steps of a search for what holds memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstcause.record.folder import relative
from firstcause.record.kept_looks import KeptMemory, MemorySample
from firstcause.record.sizes import size

_KINDS = {"graph": "autograd graph", "tensors": "tensors", "host": "objects of the host"}


def memory_steps(look: KeptMemory, cwd: str) -> dict[str, Any]:
    """Samples by step, paths as seen from ``cwd``, and six lines of a title, yes, no or None for not known, and what was seen.

    ``at`` is the training's step up to which the line was looked at, None where nothing was.
    """
    kind = _KINDS.get(look.kind, "")
    site = f"{relative(look.file, cwd)}:{look.line} {look.text}" if look.file else ""
    steps = [
        ("Does it grow?", bool(kind), _grown(look.samples)),
        ("What grows?", bool(kind) or None, _what(kind, look)),
        (
            "Who holds it?",
            bool(look.held_by) or None,
            look.held_by or "no name of the program holds more and more",
        ),
        ("Which statement feeds it?", bool(site) or None, site or "not seen"),
        (
            "Does it stop when that is let go of?",
            bool(look.cause) or None,
            "; ".join(look.evidence) or "not tried",
        ),
        ("What mends it, and what that leaves", bool(look.fix) or None, _mended(look)),
    ]
    seen = look.samples[-1].step if look.samples else None
    after = look.after[-1].step if look.after else None
    places = (seen, seen, seen, seen, look.released_at, after)
    return {
        "samples": _columns(look.samples),
        "after": _columns(look.after),
        "released_at": look.released_at,
        "steps": [
            {"title": title, "known": known, "text": text, "at": at if known is not None else None}
            for (title, known, text), at in zip(steps, places, strict=True)
        ],
    }


def _columns(samples: Sequence[MemorySample]) -> dict[str, list[int]]:
    return {
        "step": [s.step for s in samples],
        "bytes": [s.bytes for s in samples],
        "resident": [s.resident for s in samples],
    }


def _grown(samples: Sequence[MemorySample]) -> str:
    if len(samples) < 2:
        return "the process did not grow by 1 MiB after its first steps"
    first, last = samples[0], samples[-1]
    return (
        f"steps {first.step} to {last.step}: tensors {size(first.bytes)} to {size(last.bytes)}, "
        f"graph nodes {first.nodes} to {last.nodes}, resident {size(first.resident)} to {size(last.resident)}"
    )


def _what(kind: str, look: KeptMemory) -> str:
    pace = look.bytes_a_step or 0.0
    told = [kind, f"{size(pace)} a step" if pace > 0 else ""]
    told += [f"used up at step {look.full_at:,}" if kind and look.full_at else ""]
    return ", ".join(filter(None, told)) or "nothing"


def _mended(look: KeptMemory) -> str:
    left = f" It does not fix: {look.does_not_fix}" if look.does_not_fix else ""
    return f"{look.fix}{left}" if look.fix else "no change was found"
