"""seed-incomplete: a program that seeds its sources of chance leaves one out, and two runs of it part."""

from __future__ import annotations

import math
from collections.abc import Sequence

from firstcause.lab.counterfactual import Ran
from firstcause.lab.follow.asked import Followed, copy, python_of
from firstcause.lab.follow.unequal import WORDS, parted
from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.source.seeding import Chance, drawn, means_it, seeded
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "seed-incomplete"
# Losses of two runs further apart than this are no rounding; they are looked at up to so many steps.
APART, LOOKED_AT = 1e-3, 40
# What two runs and two with the source held still take at most, in steps, and a step's share of the time that is left.
BEYOND, RUNS = 4, 4
MISSING = "two runs of a program that seeds more than one source of chance, and leaves one out"


def seen(found: Ran, examination: Examination) -> str | None:
    one, at = _left_out(examination), _parted(found, examination)
    if one is None or at is None:
        return None
    return f"a second run of the same command has another loss at step {at}; {WORDS[one.source]}"


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    # Only where it is what the training is suspected of: it is true beside many another cause.
    return found is not None and seen(found, examination) == examination.symptom.message


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found, one = audits.audit(examination), _left_out(examination)
    at = _parted(found, examination) if found is not None else None
    if one is None or at is None or examination.lab is None:
        return inconclusive(CAUSE, MISSING)
    seconds = examination.lab.seconds_left / RUNS
    stop = at + BEYOND

    def run(*held: str) -> Followed:
        with copy(examination.run.folder) as place:
            return place.follow(python_of(examination.run.command), seconds, stop=stop, seeds=held)

    plain = parted(run(), run())
    if plain is None:
        return inconclusive(
            CAUSE, f"two more runs are equal for {stop} steps; what parted the first two is not known"
        )
    step, part = plain
    first, second = run(one.source), run(one.source)
    if not first.rows or not second.rows:
        return inconclusive(CAUSE, f"a run with that source held still: {first.said[:200]}")
    held = parted(first, second)
    site = _site(one, examination)
    drawn_at = one.module.site(one.call)
    place = f"`{drawn_at.text}` at line {drawn_at.line}"
    values = {
        "source": one.source,
        "parted": step,
        "part": part,
        "held_parted": held and held[0],
        "steps": stop,
    }
    if held is not None and held[0] <= step:
        text = f"two runs part at step {step}, in their {part}, whether {one.source} is held still or not"
        return refuted(CAUSE, Evidence("experiment", False, text, values, site))
    until = (
        f"up to step {held[0]}"
        if held is not None
        else f"for all {min(len(first.rows), len(second.rows))} steps looked at"
    )
    text = (
        f"{WORDS[one.source]}, and {place} draws from it: two runs part at step {step}, in their {part}; with that source "
        f"alone held still they are equal bit for bit {until}"
    )
    return confirmed(CAUSE, site, Evidence("experiment", True, text, values, site))


def _left_out(examination: Examination) -> Chance | None:
    """The first draw from a source that nothing seeds, in a program that means its runs to be alike."""
    return examination.once(CAUSE, lambda: _unseeded(examination))


def _unseeded(examination: Examination) -> Chance | None:
    project = examination.project
    if project is None or not means_it(project):
        return None
    known = {c.source for c in seeded(project)}
    return next((d for d in drawn(project) if d.source not in known), None)


def _parted(found: Ran, examination: Examination) -> int | None:
    """The first step of the audit whose loss is another one than the record's; None where all are alike."""
    pairs = zip(found.rows[:LOOKED_AT], examination.rows, strict=False)
    for number, (again, recorded) in enumerate(pairs):
        one, other = again.get("last"), recorded.get("loss")
        if one is None or other is None:
            continue
        if not math.isclose(float(one), float(other), rel_tol=APART, abs_tol=1e-6):
            return number
    return None


def _to_mend(one: Chance, others: Sequence[Chance]) -> Chance:
    """The last call that seeds another source; for a generator without a seed, the one that makes it."""
    return others[-1] if others and one.source != "generators" else one


def _site(one: Chance, examination: Examination) -> Site | None:
    found = _to_mend(one, seeded(examination.project) if examination.project is not None else ())
    return examination.site(vars(found.module.site(found.call)))


def facts(examination: Examination) -> Facts:
    one, project = _left_out(examination), examination.project
    if one is None or project is None:
        return {}
    others = seeded(project)
    found = _to_mend(one, others)
    return {
        "source": one.source,
        "seed": next((c.argument for c in reversed(others) if c.argument), None),
    } | examination.place({"file": found.module.path, "line": found.module.site(found.call).line})
