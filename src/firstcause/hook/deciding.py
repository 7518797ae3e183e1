"""Whether a call may happen: everything may, but for a change that an open case guards."""

from __future__ import annotations

import fnmatch
import os

from firstcause.hook.answers import ALLOWED, Said, denied
from firstcause.hook.calls import Call
from firstcause.hook.guarding import HOME, HOURS, Guard, guards, projects_around
from firstcause.hook.shell import Written, persons_act, written

_NEXT = "Next: call case_status, or: firstcause case show."
_RECORD = "the record of a case is written by firstcause alone."
_SHOW = "show the command to the person, and wait."


def decide(call: Call, hours: float = HOURS) -> Said:
    """The answer to a call before it happens."""
    reason = _against(call, hours)
    return denied(call.client, reason) if reason else ALLOWED


def _against(call: Call, hours: float) -> str:
    writes = [Written(call.tool, (path,)) for path in call.writes]
    if call.command:
        writes += list(written(call.command))
    if not writes and not call.command:
        return ""
    for one in writes:
        for path in one.paths:
            if _in_record(_real(path, call.cwd)):
                return f"{one.verb} would write {path}: {_RECORD} {_NEXT}"
    act = persons_act(call.command)
    # A project may lie below the folder in which the call is made, and be meant by its paths alone.
    places = (os.path.dirname(_real(path, call.cwd)) for one in writes for path in one.paths)
    for guard in guards([call.cwd, *places], hours):
        if act:
            typed = " ".join(act.split())
            return f"`{typed}` is a person's act, and case {guard.case} waits for one: {_SHOW} {_NEXT}"
        for one in writes:
            hit = _hit(one, guard, call.cwd)
            if hit:
                return _told(one.verb, hit, guard)
    return ""


def _hit(one: Written, guard: Guard, cwd: str) -> str:
    """The guarded file that a command writes, as far as its words tell."""
    if one.tree and _inside(guard.project, os.path.realpath(cwd)):
        return "the files of this folder"
    for path in one.paths:
        real = _real(path, cwd)
        if guard.covers(real):
            return path
        for file in guard.files or ():
            # A bare name in a script, or a folder that only the shell knows: it is taken for the file of that name.
            unknown = "$" in path or "`" in path or os.path.basename(path) == path
            bare = unknown and os.path.basename(path) == os.path.basename(file)
            within = one.recursive and os.path.isdir(real) and _inside(real, file)
            if bare or within or fnmatch.fnmatch(file, real):
                return os.path.relpath(file, guard.project)
    return ""


def _told(verb: str, path: str, guard: Guard) -> str:
    return (
        f"{verb} would change {path} while case {guard.case} ({guard.stands}) has no approved fix: the cause comes first. "
        f"{_NEXT} A person ends it with: firstcause case close {guard.case} --lesson TEXT"
    )


def _real(path: str, cwd: str) -> str:
    return os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))


def _in_record(real: str) -> bool:
    return any(
        _inside(os.path.join(project, HOME), real) for project in projects_around(os.path.dirname(real))
    )


def _inside(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder
