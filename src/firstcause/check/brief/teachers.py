"""What belongs to the teacher of a distillation: its checkpoint is neither the model that is trained nor an output."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line
from firstcause.check.brief.vocabulary import word_set

_TEACHERS = frozenset({"teacher", "teachers"})
# Here the teacher's words end.
_ENDS = frozenset({"student", "students", "to", "into", "train", "fine tune", "finetune", "policy", ";"})
_BETWEEN = frozenset({"as", "is", "=", "(", "the", "our", "a", "acts", "serves", "being", "for"})
# What may stand between the teacher and its name.
_OF_TEACHER = _BETWEEN | word_set("teachers", "between")
_DISTILS = re.compile(r"distil|\bstudent", re.IGNORECASE)
# Data that a teacher made is data.
_HOLDS_DATA = (".npz", ".npy", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt", ".arrow")


def of_teacher(line: Line, at: int, typed: str) -> bool:
    """Whether a name or a path is the teacher's: "teacher: models/large", "bert-large as the teacher".

    Only in a text about a distillation: others have teachers as well.
    """
    tokens = line.tokens
    if tokens[at].text.endswith(_HOLDS_DATA) or not any(t.text in _TEACHERS for t in tokens):
        return False
    if not _DISTILS.search(typed):
        return False
    after = at + 1
    while after < len(tokens) and tokens[after].text in _BETWEEN:
        after += 1
    if after > at + 1 and after < len(tokens) and tokens[after].text in _TEACHERS | {"student"}:
        return tokens[after].text in _TEACHERS
    for place in range(at - 1, -1, -1):
        if tokens[place].text in _TEACHERS:
            return True
        token = tokens[place]
        named = token.kind in ("path", "hub", "model", "number", "break", "join")
        if token.text in _ENDS or not (named or set(token.text.split()) <= _OF_TEACHER):
            return False
    return False
