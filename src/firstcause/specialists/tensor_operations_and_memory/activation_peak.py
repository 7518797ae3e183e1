"""activation-peak: the step itself asks for more than there is, and the steps before left nothing behind."""

from __future__ import annotations

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import out_of_memory
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.out_of_memory import Refused
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "activation-peak"


def propose(examination: Examination) -> bool:
    return out_of_memory.refused(examination.symptom) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = out_of_memory.refused(examination.symptom)
    if found is None or found.tried is None:
        return inconclusive(CAUSE, "the size that was asked for: the message does not tell it")
    site = examination.symptom.site
    held = out_of_memory.before(examination)
    if found.is_foreign or found.is_fragmented:
        evidence = Evidence(
            "observation", False, f"{found.told()}: the step is not what is too large", found.values(), site
        )
        return refuted(CAUSE, evidence)
    if not out_of_memory.is_flat(held) and not _is_more_than_all(found, held):
        first, last = held[0], held[-1]
        text = (
            f"{out_of_memory.gib(first[1])} were held after step {first[0]} and {out_of_memory.gib(last[1])} after step "
            f"{last[0]}: memory had been rising before"
        )
        return refuted(CAUSE, Evidence("observation", False, text, found.values(), site))
    values = found.values() | {"steps_before": len(held)}
    return confirmed(
        CAUSE, site, Evidence("observation", True, _told(examination, found, held), values, site)
    )


def _is_more_than_all(found: Refused, held: list[tuple[int, int]]) -> bool:
    """Whether this one request exceeds all that the steps before have left behind."""
    return found.tried is not None and found.tried > held[-1][1]


def _told(examination: Examination, found: Refused, held: list[tuple[int, int]]) -> str:
    operation = examination.refused
    shapes = [str(i["shape"]) for i in (operation or {}).get("inputs") or () if i.get("shape") is not None]
    what = (operation or {}).get("op", "one operation") + (f" of {' and '.join(shapes)}" if shapes else "")
    text = f"{found.told()} ({what})"
    if len(held) < 2:
        return f"{text}; no step before could have left anything behind"
    sizes = [size for _, size in held]
    return (
        f"{text}; after the {len(held)} steps before that were looked at, {out_of_memory.gib(min(sizes))} to "
        f"{out_of_memory.gib(max(sizes))} were held"
    )


def facts(examination: Examination) -> Facts:
    return {}
