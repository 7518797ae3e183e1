"""wrong-backward-formula: a backward that is written by hand is not the derivative of its forward."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "wrong-backward-formula"


def seen(found: Ran, examination: Examination) -> str | None:
    wrong = _wrong(found)
    if not wrong:
        return None
    (numerical, given), *_ = wrong["pairs"]
    return (
        f"{wrong['class']}.backward gives {given:.4g} for input {wrong['input']} where the forward's own difference quotient "
        f"in float64 is {numerical:.4g}"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and bool(_wrong(found))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    wrong = _wrong(found) if found is not None else {}
    if found is None or not wrong:
        return inconclusive(CAUSE, "an audit in which a function of the program is given inputs to derive")
    others = ", ".join(f"{g:.4g} for {n:.4g}" for n, g in wrong["pairs"][1:])
    text = f"{seen(found, examination)}; further elements: {others}: no constant factor, and not flat there"
    site = _return(wrong, examination)
    return confirmed(
        CAUSE, site, Evidence("observation", True, text, {k: wrong[k] for k in ("class", "pairs")}, site)
    )


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    wrong = _wrong(found) if found is not None else {}
    return examination.place(wrong) if wrong else {}


def _wrong(found: Ran) -> Facts:
    derived: list[Facts] = found.facts.get("derived") or []
    return next((d for d in derived if d["verdict"] == "wrong"), {})


def _return(wrong: Facts, examination: Examination) -> Site | None:
    """The last return of the backward, where its formula ends."""
    module = examination.project.module(wrong["file"]) if examination.project is not None else None
    lines = range(wrong["end_line"], wrong["line"], -1)
    found = next((n for n in lines if module is not None and "return" in module.line(n)), wrong["line"])
    text = module.line(found).strip() if module is not None else ""
    return examination.site({"file": wrong["file"], "line": found, "function": "backward", "text": text})
