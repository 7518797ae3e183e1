"""label-shift: each row of logits is compared with another token than the one after the last that it has seen."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, shifts
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "label-shift"
# Words of a program that compares with other tokens on purpose, and of one that wants the next one.
FARTHER = r"horizon|ahead|multi.?token|mtp|skip.?gram|lookahead|delay"
SAME = r"auto.?encod|reconstruct|denois|copy_?task|identity|tagg|mask_token|masked"
NEXT = r"next|generat|causal|autoregress|forecast|lm\b|_lm|lm_|language|continu|sampl"


def seen(found: Ran, examination: Examination) -> str | None:
    one = _shifted(found, examination)
    return _told(one) if one is not None else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and _shifted(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = _shifted(found, examination) if found is not None else None
    if found is None or one is None:
        return inconclusive(CAUSE, "targets that are all the token at one distance from the last one seen")
    site = examination.site(place_of(one))
    shares = {int(k): v for k, v in one["shares"].items()}
    text = f"{_told(one)}; of the next tokens, {shares[1]:.0%} are the target by chance; the loss ends at {end(found):.4g}"
    values = {"distance": one["distance"], "compared": one["compared"], "share_of_next": shares[1]}
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site))


def _shifted(found: Ran, examination: Examination) -> Facts | None:
    of = [s for s in shifts.of(found) if s["causal"]]
    if any(s["distance"] == 1 for s in of):
        return None
    one = next(iter(of), None)
    if one is None or shifts.says(examination, FARTHER if one["distance"] > 1 else SAME):
        return None
    return one if one["distance"] > 1 or shifts.says(examination, NEXT) else None


def _told(one: Facts) -> str:
    distance = one["distance"]
    which = {0: "the last token that its row of logits has seen"}.get(
        distance,
        f"{abs(distance)} places {'after' if distance > 0 else 'before'} the last token that its row has seen",
    )
    return f"each of {one['compared']} targets is {which}, and none but by chance the one after it"


def place_of(one: Facts) -> Facts:
    """The slice of the targets nearest to the loss, else the one that made them, else the loss."""
    if one["distance"] <= 0:
        cuts = [c for c in one["logit_slices"] if c["start"]]
    else:
        cuts = [c for c in one["target_slices"] if c["start"]] or _cut_apart(
            one["token_cuts"], one["distance"]
        )
    place: Facts = cuts[-1]["site"] if cuts else one["site"]
    return place


def _cut_apart(cuts: list[Facts], distance: int) -> list[Facts]:
    """The cuts out of longer sequences that lie as far behind another one, each time, as the targets do."""
    return [
        c
        for c in cuts
        for other in cuts
        if len(c["starts"]) == len(other["starts"])
        and all(a - b == distance for a, b in zip(c["starts"], other["starts"], strict=True))
    ]


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = _shifted(found, examination) if found is not None else None
    if one is None:
        return {}
    both = [*one["logit_slices"], *one["target_slices"]]
    return examination.place(place_of(one)) | {
        "distance": one["distance"],
        "loss": examination.place(one["site"]),
        "target_dims": one["target_dims"],
        "sliced": [examination.place(c["site"]) | {"start": c["start"], "stop": c["stop"]} for c in both],
    }
