"""A brief that asks for two values of one key: code that follows one of them is asked about, and not blamed.

Prose changes its mind, compares and reports; whoever reads it, a person or a grammar, takes some value for a wish that was
none. Where the code does what another sentence asks, which of the two holds is for the user to say.
"""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.compliance.agree import agrees
from firstcause.check.compliance.table import assumption
from firstcause.check.facts.fact import Fact
from firstcause.schema.finding import Finding
from firstcause.schema.instruction import Instruction


def contradiction(asked: Sequence[Instruction], known: Sequence[Fact]) -> Finding | None:
    """The question that a key's instructions leave open, where the code follows one of them; None where they agree.

    The code follows it everywhere: another value beside it is a deviation whatever was meant.
    """
    said = [f for f in known if not f.confirms] or list(known)
    if not said:
        return None
    for followed in asked:
        if (
            followed.polarity != "require"
            or followed.derived
            or not all(agrees(followed, f.value) for f in said)
        ):
            continue
        other = next((i for i in asked if _contradicts(i, followed)), None)
        if other is not None:
            return _question(followed, other, said[0])
    return None


def _contradicts(one: Instruction, followed: Instruction) -> bool:
    """Whether what follows the second does not follow the first, where neither speaks of another part than the other."""
    if one is followed or one.derived or one.scope != followed.scope:
        return False
    if one.key == "data_split" and isinstance(one.value, str) != isinstance(followed.value, str):
        # "10%, split by time" asks for two things.
        return False
    plain = not isinstance(one.value, (list, tuple)) and not isinstance(followed.value, (list, tuple))
    return plain and not agrees(one, followed.value)


def _question(followed: Instruction, other: Instruction, fact: Fact) -> Finding:
    key = followed.key
    one, another = (f"“{i.sentence.strip()[:80]}”" for i in (followed, other))
    if one == another:
        asked = f"{key} is {fact.value} here, which {one} asks for beside {other.value}"
    else:
        asked = f"{key} is {fact.value} here, as one sentence asks ({one}) and another does not ({another})"
    text = f"{asked}; say which holds: firstcause check --confirm {key}"
    return Finding(
        assumption(key), "assumption", fact.site, text, str(other.value), str(fact.value), key, fact.argument
    )
