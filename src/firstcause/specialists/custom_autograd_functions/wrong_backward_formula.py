"""wrong-backward-formula: a backward that is written by hand is not the derivative of its forward."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed

CAUSE = "wrong-backward-formula"


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


def _told(wrong: Facts) -> str:
    (expected, given), *_ = wrong["pairs"]
    name, number = wrong["class"], wrong["input"]
    if wrong.get("order") == 0:
        return (
            f"{name}.backward changes the values of input {number}, which the program goes on with: {expected:.4g} is "
            f"{given:.4g} after it"
        )
    if wrong.get("order") == 2:
        return (
            f"the derivative of {name}.backward is {given:.4g} for input {number} where its own difference quotient in float64 "
            f"is {expected:.4g}"
        )
    form = f": it is {wrong['form']}" if wrong.get("form") else ""
    return (
        f"{name}.backward gives {given:.4g} for input {number} where the forward's own difference quotient "
        f"in float64 is {expected:.4g}{form}"
    )


def _settled(cause: str, examination: Examination, wrong: Facts) -> Hypothesis:
    others = ", ".join(f"{g:.4g} for {n:.4g}" for n, g in wrong["pairs"][1:])
    text = f"{_told(wrong)}; further elements: {others}" if others else _told(wrong)
    site = _return(wrong, examination)
    kept: Facts = {k: wrong[k] for k in ("class", "pairs", "form", "order") if k in wrong}
    return confirmed(cause, site, Evidence("observation", True, text, kept, site))


def _known(examination: Examination, wrong: Facts) -> Facts:
    return examination.place(wrong)


_FORM = Silent(
    CAUSE,
    _wrong,
    _told,
    _settled,
    _known,
    "an audit in which a function of the program is given inputs to derive",
)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
