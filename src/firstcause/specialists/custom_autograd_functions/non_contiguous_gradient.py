"""non-contiguous-gradient: a backward gives something else for the same gradient, once its elements lie apart in memory."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, confirmed, inconclusive

CAUSE = "non-contiguous-gradient"
BACKWARD = "backward"


def seen(found: Ran, examination: Examination) -> str | None:
    one = _apart(found)
    return _told(one) if one else None


def propose(examination: Examination) -> bool:
    if _refused(examination):
        return True
    found = audits.audit(examination)
    return found is not None and bool(_apart(found))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    refused = _refused(examination)
    if refused:
        return _by_refusal(hypothesis, examination, refused)
    found = audits.audit(examination)
    one = _apart(found) if found is not None else {}
    if not one:
        return inconclusive(CAUSE, "a backward of the program's own that is given such a gradient")
    site = examination.site({k: one[k] for k in ("file", "line")} | {"function": BACKWARD, "text": ""})
    others = ", ".join(f"{b:.4g} for {a:.4g}" for a, b in one["pairs"][1:])
    text = f"{_told(one)}; further elements: {others or 'none'}; in the training its gradient arrives so"
    return confirmed(
        CAUSE, site, Evidence("counterfactual", True, text, {k: one[k] for k in ("class", "pairs")}, site)
    )


def facts(examination: Examination) -> Facts:
    refused = _refused(examination)
    if refused:
        return examination.place(refused["site"])
    found = audits.audit(examination)
    one = _apart(found) if found is not None else {}
    return examination.place(one) | {"backward": True} if one else {}


def _apart(found: Ran) -> Facts:
    derived: list[Facts] = found.facts.get("derived") or []
    return next((d for d in derived if d["verdict"] == "layout"), {})


def _told(one: Facts) -> str:
    (contiguous, apart), *_ = one["pairs"]
    return (
        f"{one['class']}.backward gives {apart:.4g} for input {one['input']} where the elements of its gradient lie apart in "
        f"memory, and {contiguous:.4g} for the same gradient made contiguous"
    )


def _refused(examination: Examination) -> Facts:
    """A view in a backward of the program's own that its gradient's layout does not allow."""
    refused = examination.refused or {}
    site = refused.get("site") or {}
    is_view = refused.get("op", "").rpartition(".")[2].strip("_") in ("view", "view_as", "as_strided")
    return refused if is_view and site.get("function") == BACKWARD else {}


def _by_refusal(hypothesis: Hypothesis, examination: Examination, refused: Facts) -> Hypothesis:
    tensors = [o for o in refused["operands"] if isinstance(o, dict)]
    spread = [o for o in tensors if o.get("contiguous") is False or "stride" in refused.get("error", "")]
    site = examination.site(refused["site"])
    shape = spread[0].get("shape") if spread else None
    text = (
        f"{refused['op']} in a backward at {site} was refused a gradient of shape {shape} whose elements do not lie one after "
        "the other in memory"
    )
    return by_replay(hypothesis, examination, bool(spread), text, {"shape": shape}, site)
