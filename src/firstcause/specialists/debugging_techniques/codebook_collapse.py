"""codebook-collapse: few codes are chosen, and the others begin where no vector comes near them."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "codebook-collapse"
# Catalogue: about a tenth of the codes, counted over several choices for each.
SHARE, LEAST_EACH = 0.15, 5
MORE = 2.0


def book(found: Ran) -> Facts | None:
    """The codebook of which the smallest share is in use."""
    books: list[Facts] = found.facts.get("codebooks") or []
    counted = [
        b for b in books if b["choices"] >= LEAST_EACH * b["codes"] and b["perplexity"] < SHARE * b["codes"]
    ]
    return min(counted, key=lambda b: b["perplexity"] / b["codes"], default=None)


def _revived(steps: int) -> Arm:
    """The other half of the training shows whether they stay in use."""
    name = f"unused codes begin anew from the encoder's outputs in the first {steps} steps"
    return Arm(name, "audit", {"watch": ["codes_used"], "revived": steps})


def seen(found: Ran, examination: Examination) -> str | None:
    one = book(found)
    if one is None:
        return None
    return (
        f"{one['used']} of {one['codes']} codes were used in the last {one['choices']} choices, "
        f"with a perplexity of {one['perplexity']:.3g}"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and book(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = book(found) if found is not None else None
    if found is None or one is None:
        return inconclusive(CAUSE, "a codebook of which few codes are chosen")
    text = seen(found, examination)
    revived = gains.changed(examination, _revived(len(found.rows) // 2))
    books = (revived.facts.get("codebooks") or []) if revived is not None else []
    same = next((b for b in books if b["site"] == one["site"] and b["codes"] == one["codes"]), None)
    if (
        revived is None
        or same is None
        or same["perplexity"] < MORE * one["perplexity"]
        or not gains.gained(revived, found)
    ):
        return inconclusive(
            CAUSE, f"{text}; codes set anew that stay in use and a loss that comes further with them"
        )
    site = examination.site(one["site"])
    said = (
        f"{text}; once unused codes begin anew from the encoder's outputs, {same['used']} are used with a perplexity of "
        f"{same['perplexity']:.3g}, and {gains.ends(revived, found)}"
    )
    values = {k: one[k] for k in ("codes", "used", "perplexity", "choices", "name")} | {
        "counts": {"as it was": one.get("counts"), "with codes set anew": same.get("counts")},
        "used_anew": same["used"],
        "perplexity_anew": same["perplexity"],
        "loss": end(found),
        "loss_anew": end(revived),
    }
    return confirmed(CAUSE, site, Evidence("counterfactual", True, said, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = book(found) if found is not None else None
    return {} if one is None else examination.place(one["site"]) | {k: one[k] for k in ("name", "learned")}
