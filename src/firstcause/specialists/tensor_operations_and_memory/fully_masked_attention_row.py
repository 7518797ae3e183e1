"""fully-masked-attention-row: a softmax over a row of which a mask has hidden every element."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import settle_by_root
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.masking import masked_row

CAUSE = "fully-masked-attention-row"


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    masked = masked_row(examination)
    why = masked.text if masked else "no row of a softmax is masked whole"
    return settle_by_root(hypothesis, examination, masked is not None, why, after_divergence=True)


def facts(examination: Examination) -> Facts:
    masked = masked_row(examination)
    if masked is None:
        return {}
    place = (masked.mask or masked.birth)["site"]
    measured = masked.birth.get("masked") or {}
    operands = [o for o in (masked.mask or {}).get("operands") or [] if isinstance(o, dict)]
    mask = next((o for o in operands if o["dtype"] == "bool"), {})
    return examination.place(place) | {
        "dim": measured.get("dim"),
        "length": measured.get("length"),
        "mask_shape": mask.get("shape"),
    }
