"""Two batches in one sentence: "batch size 1024, but the machine only manages 256 at once" names a whole and its part."""

from __future__ import annotations

from firstcause.check.brief.reading import Line
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_EVALUATES = word_set("refine", "evaluates")
_REACH = 4


def whole_and_part(line: Line) -> None:
    """Let the batch that a device cannot hold at once be the effective one."""
    batches = [r for r in line.readings if r.key == "batch_size" and not r.told and r.polarity == "require"]
    wholes = [r for r in batches if not r.scope]
    parts = [r for r in batches if r.scope == "per_device"]
    if len(wholes) != 1 or len(parts) != 1 or any(r.key == "effective_batch_size" for r in line.readings):
        return
    whole, part = wholes[0], parts[0]
    own = line.tokens[max(0, part.first - _REACH) : part.last + _REACH]
    if any(t.has("eval") for t in own) or _EVALUATES & set(words_in(own)):
        # "32 for training and 8 per device for the evaluation".
        part.scope = "eval"
        return
    counts = isinstance(whole.value, int) and isinstance(part.value, int)
    plain = whole.relation == "eq" and whole.status == part.status == "active" and not part.condition
    if counts and plain and whole.value > part.value and whole.value % part.value == 0:
        whole.key = "effective_batch_size"
