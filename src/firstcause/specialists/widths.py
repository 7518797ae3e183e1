"""One value a sample laid along rows that happen to be as long as the batch: it fits no other number of samples."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

STEPS = 6
KEYS = ("file", "line", "column", "end_line", "end_column")


def met(found: Ran) -> Facts | None:
    """The first place at which a vector that is made anew in each step met rows of as many values as there are rows."""
    of: list[Facts] = found.facts.get("widths") or []
    return of[0] if of else None


def told(one: Facts) -> str:
    return (
        f"{one['function']} takes {one['shape']} and {one['other']}, as many rows as columns, and lays the vector along each "
        "row"
    )


def refused(examination: Examination, one: Facts) -> list[Facts]:
    """The places that refuse a batch of one sample less, those among them that were seen; empty where none does."""
    ran = _fewer(examination, one)
    of: list[Facts] = ran.facts.get("refused") or [] if ran is not None and ran.ended != "exception" else []
    seen = (one["site"]["file"], one["site"]["line"])
    return of if any((r["site"]["file"], r["site"]["line"]) == seen for r in of) else []


def _fewer(examination: Examination, one: Facts) -> Ran | None:
    if examination.lab is None:
        return None
    arm = Arm("one sample less in each batch", "audit", {"watch": ["widths_met"], "fewer": one["shape"][0]})
    return examination.lab.from_start([arm], STEPS)[arm.name]


def settle(hypothesis: Hypothesis, examination: Examination, one: Facts) -> Hypothesis:
    """Confirmed where a batch of one sample less is refused there, and passes with one value for each sample."""
    places = refused(examination, one)
    if not places:
        return inconclusive(
            hypothesis.cause, f"{told(one)}; a batch of one sample less that is refused there"
        )
    first = places[0]
    site = examination.site(first["site"])
    rows = one["shape"][0]
    text = (
        f"{told(one)}; with {rows - 1} samples in place of {rows} in each batch, {first['function']} at {site} raises "
        f'"{first["message"]}", and with an axis added, [{rows - 1}, 1] for [{rows - 1}], the same steps pass: there is one '
        "value for each sample"
    )
    values = {"shape": one["shape"], "other": one["other"], "places": len(places)}
    return confirmed(hypothesis.cause, site, Evidence("counterfactual", True, text, values, site))


def facts(examination: Examination, one: Facts) -> Facts:
    """The place of the first such operation, and all of them in ``also``, as ``fix/patches/silent_broadcast`` reads them."""
    places = refused(examination, one)
    first = (places or [one])[0]
    rows = one["shape"][0]
    given = {"function": first["function"], "operand": first["operand"]}
    also = [
        examination.place(p["site"]) | {"function": p["function"], "operand": p["operand"]}
        for p in places[1:]
    ]
    shapes = {"shape": (rows,), "other": (rows, 1), "only": True}
    return examination.place(first["site"]) | given | shapes | {"also": [a | shapes for a in also]}
