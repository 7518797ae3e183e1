"""Whether a program parts its data by whole groups or by single rows; only where a brief asks for groups."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact

GROUPED = ("GroupShuffleSplit", "GroupKFold", "StratifiedGroupKFold", "LeaveOneGroupOut", "LeavePGroupsOut")
# What makes whole groups of rows, or picks the rows of some: then the code parts them by itself.
GROUPS = frozenset(
    {"unique", "drop_duplicates", "groupby", "isin", "nunique", "merge", "map", "set", *GROUPED}
)


def parted_facts(code: Code) -> Iterator[Fact]:
    """Facts of split_by."""
    if not code.asked("split_by"):
        return
    for call in code.calls(*(f"sklearn.model_selection.{name}" for name in GROUPED)):
        yield Fact("split_by", "group", call.site, call.name.rpartition(".")[2])
    for call in code.calls("sklearn.model_selection.train_test_split"):
        shuffled = call.constant("shuffle")
        if shuffled is not None and shuffled.value is False:
            continue
        if not code.called_names() & GROUPS and _is_whole_table(code, call):
            yield Fact("split_by", "rows", call.site, "train_test_split of a table's rows")


def _is_whole_table(code: Code, call: Call) -> bool:
    """Whether the rows of a table that pandas reads are parted, as they come."""
    if len(call.node.args) != 1 or call.may_have("shuffle"):
        return False
    made = code.made_by(call.module, call.node.args[0])
    return bool(made) and all(name.startswith("pandas.read_") for name in made)
