"""Values that the code sets and nobody asked for, where they matter: to be confirmed, not to be blamed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.check.compliance.table import assumption, names
from firstcause.check.facts.fact import Fact
from firstcause.schema.finding import Finding
from firstcause.schema.instruction import Instruction

# A library's neutral values: writing them out assumes nothing.
NEUTRAL: dict[str, tuple[object, ...]] = {
    "weight_decay": (0, 0.0),
    "label_smoothing": (0, 0.0),
    "packing": (False,),
    "gradient_accumulation": (1,),
    "warmup_steps": (0, 0.0),
    "warmup_ratio": (0, 0.0),
    "gradient_checkpointing": (False,),
    "dropout": (0, 0.0),
}


def assumptions(instructions: Sequence[Instruction], facts: Sequence[Fact]) -> Iterator[Finding]:
    """One finding for each material key that the code sets explicitly and that no instruction speaks of."""
    spoken = {i.key for i in instructions}
    for key in names().material:
        settled = names().settled_by.get(key, [])
        fact = next((f for f in facts if f.key == key and f.explicit), None)
        if fact is None or key in spoken or spoken & set(settled) or fact.value in NEUTRAL.get(key, ()):
            continue
        got = ",".join(map(str, fact.value)) if isinstance(fact.value, list) else str(fact.value)
        text = f"{key} is {got} here and the brief does not speak of it; confirm it: firstcause check --confirm {key}"
        yield Finding(assumption(key), "assumption", fact.site, text, "", got, key, fact.argument)
