"""Files that are written row by row, one for each of what is read: "one line per invoice in invoices.jsonl"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstcause.check.brief.reading import Line, Reading

_A_ROW_EACH = re.compile(r"\b(?:line|row|record|object) (?:per|for each|for every) [\w ]{2,30} in$")


def one_for_each(line: Line, at: int, heard: Sequence[Reading]) -> bool:
    """Whether a bare name with a placeholder stands where what is read was named before: "6. labels_<year>.csv"."""
    name = line.tokens[at].text
    inputs = [str(r.value) for r in heard if r.key == "input_path"]
    rows = " ".join(w for t in line.words(at - 6, at) for w in t.split())
    inputs += [str(r.value) for r in line.readings if r.key == "input_path"]
    placed = at == 0 and bool(re.search(r"<[\w-]+>|\{[\w-]+\}", name))
    return bool(inputs) and name not in inputs and (placed or bool(_A_ROW_EACH.search(rows)))
