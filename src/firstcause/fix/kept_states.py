"""The patch for state that a checkpoint leaves out: one entry more in what is saved, one statement more where it is loaded."""

from __future__ import annotations

from firstcause.fix.checkpoints import Read, Written, added_entry, key_of, loaded, new_key, read, written
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts
from firstcause.schema import Fix
from firstcause.source import Project


def kept(facts: Facts, project: Project, root: str, cause: str, key: str, other: str) -> Fix | None:
    """Save and load what has a ``state_dict``; None where it has no name at one of the two ends.

    ``key`` is the entry's name in the file, ``other`` what the fix does not restore.
    """
    ends = _ends(facts, project)
    if ends is None or ends[0].expression is None:
        return None
    saves, loads = ends
    name = key_of(saves, str(saves.expression)) if facts.get("in_file") else new_key(saves, key)
    if name is None:
        return None
    entry = [] if facts.get("in_file") else [added_entry(saves, name, f"{saves.expression}.state_dict()")]
    text = f'{loads.expression}.load_state_dict({loads.source}["{name}"])'
    return made(project, root, cause, ends, entry, [text], other)


def made(
    project: Project,
    root: str,
    cause: str,
    ends: tuple[Written, Read],
    entry: list[Edit],
    statements: list[str],
    other: str,
) -> Fix | None:
    """The fix of both ends, told with their places."""
    saves, loads = ends
    edits = loaded(loads, statements)
    if edits is None:
        return None
    at, there = saves.module.site(saves.table), loads.module.site(loads.after)
    return draft(
        project,
        root,
        cause,
        [*entry, *edits],
        f"Save it at {at}, and load it after {there}: `{statements[0]}`."
        if entry
        else f"Load it after {there}: `{statements[0]}`.",
        f"A resumed training goes on as the straight one does; files that were saved before {at} was changed lack the entry.",
        other,
    )


def _ends(facts: Facts, project: Project) -> tuple[Written, Read] | None:
    saves, loads = written(facts, project), read(facts, project)
    return (saves, loads) if saves is not None and loads is not None else None
