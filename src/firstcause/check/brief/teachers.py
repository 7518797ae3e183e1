"""What belongs to the teacher of a distillation: its checkpoint is neither the model that is trained nor an output."""

from __future__ import annotations

from firstcause.check.brief.reading import Line

_TEACHERS = frozenset({"teacher", "teachers"})
# Here the teacher's words end.
_ENDS = frozenset({"student", "students", "to", "into", "train", "fine tune", "finetune", "policy", ";"})
_BETWEEN = frozenset({"as", "is", "=", "(", "the", "our", "a", "acts", "serves", "being", "for"})
# Data that a teacher made is data.
_HOLDS_DATA = (".npz", ".npy", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt", ".arrow")


def of_teacher(line: Line, at: int) -> bool:
    """Whether a name or a path is the teacher's: "teacher: models/large", "bert-large as the teacher"."""
    tokens = line.tokens
    if tokens[at].text.endswith(_HOLDS_DATA):
        return False
    after = at + 1
    while after < len(tokens) and tokens[after].text in _BETWEEN:
        after += 1
    if after > at + 1 and after < len(tokens) and tokens[after].text in _TEACHERS | {"student"}:
        return tokens[after].text in _TEACHERS
    for place in range(at - 1, -1, -1):
        if tokens[place].text in _TEACHERS:
            return True
        if tokens[place].text in _ENDS:
            return False
    return False
