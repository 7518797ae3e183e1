"""What differs between two recorded runs: code, arguments, versions, surroundings, data, seeds, and where they part."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from firstcause.record import sources
from firstcause.record.folder import RunFolder
from firstcause.record.journal import steps_of
from firstcause.schema import Run

# Two figures of a batch that differ by less are those of another order of summation.
SAME = 1e-6


@dataclass(frozen=True)
class Change:
    """One thing that differs: its group, its name, what it was and what it is; a diff, or why there is none."""

    group: str
    name: str
    before: Any
    after: Any
    diff: str = ""
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two runs by their ids: what differs, the groups in which nothing does, and what could not be compared, and why."""

    before: str
    after: str
    changes: tuple[Change, ...]
    same: tuple[str, ...]
    unknown: dict[str, str]

    def causes(self) -> tuple[Change, ...]:
        """The changes that a run is made from, without how it went."""
        return tuple(c for c in self.changes if c.group not in ("losses", "end"))


class _Side:
    """One of the two runs, with the event of its first step."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.run: Run = folder.run()
        readings = list(folder.journals().values())
        events = [e for r in readings for e in r.events]
        self.first: dict[str, Any] | None = next((e for e in events if e.get("event") == "first-step"), None)
        self.start: dict[str, Any] = next((e for e in events if e.get("event") == "start"), {})
        # Of an imported history, the figures of other steps have a journal of their own.
        with_loss = [r for r in readings if any("loss" in row.columns for row in r.rows[:1])]
        self.losses: list[float] = [s.get("loss", math.nan) for s in steps_of(with_loss)]


def compare(before: RunFolder, after: RunFolder) -> Comparison:
    """Compare two runs; raises ``RecordError`` where one cannot be read."""
    one, two = _Side(before), _Side(after)
    changes: list[Change] = []
    same: list[str] = []
    unknown: dict[str, str] = {}
    groups: dict[str, Callable[[_Side, _Side], Iterator[Change] | str]] = {
        "arguments": _arguments,
        "code": _code,
        "versions": _versions,
        "git": _git,
        "environment": _environment,
        "seed": _seed,
        "data": _data,
        "losses": _losses,
        "end": _end,
    }
    for group, look in groups.items():
        found = look(one, two)
        if isinstance(found, str):
            unknown[group] = found
            continue
        listed = list(found)
        changes += listed
        if not listed:
            same.append(group)
    return Comparison(one.run.id, two.run.id, tuple(changes), tuple(same), unknown)


def _arguments(one: _Side, two: _Side) -> Iterator[Change]:
    if one.run.command != two.run.command:
        yield Change("arguments", "command", list(one.run.command), list(two.run.command))
    if one.run.folder != two.run.folder:
        yield Change("arguments", "folder", one.run.folder, two.run.folder)


def _code(one: _Side, two: _Side) -> Iterator[Change] | str:
    if not one.run.sources or not two.run.sources:
        return "no source file of one of them was observed"
    return _files(one, two, _relative(one.run), _relative(two.run))


def _files(one: _Side, two: _Side, left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[Change]:
    for name in sorted({*left, *right}):
        a, b = left.get(name), right.get(name)
        if a == b:
            continue
        old = "" if a is None else sources.text_of(one.folder, a)
        new = "" if b is None else sources.text_of(two.folder, b)
        if old is None or new is None:
            note = "its text was not kept: only files up to 256 KiB, 4 MiB in all, are"
            yield Change("code", name, a, b, "", note)
            continue
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", n=1, lineterm=""
        )
        yield Change("code", name, a, b, "\n".join(lines))


def _relative(run: Run) -> dict[str, str]:
    """Hashes by the path from the run's folder, so that a project compares with its copy."""
    return {os.path.relpath(path, run.folder): digest for path, digest in (run.sources or {}).items()}


def _versions(one: _Side, two: _Side) -> Iterator[Change] | str:
    if one.first is None or two.first is None:
        return _unseen(one, two)
    left, right = (
        {"python": side.start.get("python"), **(side.first or {}).get("versions", {})} for side in (one, two)
    )
    return _mapping("versions", left, right)


def _git(one: _Side, two: _Side) -> Iterator[Change] | str:
    if one.run.git_revision is None or two.run.git_revision is None:
        return "one of them ran outside of git"
    left = {"revision": one.run.git_revision, "differs from it": one.run.git_dirty}
    right = {"revision": two.run.git_revision, "differs from it": two.run.git_dirty}
    return _mapping("git", left, right)


def _environment(one: _Side, two: _Side) -> Iterator[Change]:
    for part in ("variables", "hardware"):
        kept = ((side.run.environment or {}).get(part) for side in (one, two))
        left, right = (k if isinstance(k, dict) else {} for k in kept)
        yield from _mapping("environment", left, right)


def _seed(one: _Side, two: _Side) -> Iterator[Change] | str:
    if one.first is None or two.first is None:
        return _unseen(one, two)
    return _mapping("seed", {"torch": one.first.get("seed")}, {"torch": two.first.get("seed")})


def _data(one: _Side, two: _Side) -> Iterator[Change] | str:
    if one.first is None or two.first is None:
        return _unseen(one, two)
    left, right = ({t["name"]: t for t in (side.first or {}).get("tensors", [])} for side in (one, two))
    if not left and not right:
        return "the first step of neither was given a tensor by name"
    names = dict.fromkeys([*left, *right])
    pairs = ((name, left.get(name), right.get(name)) for name in names)
    return (Change("data", name, a, b) for name, a, b in pairs if not _alike(a, b))


def _alike(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= SAME * max(abs(one), abs(two), 1.0)
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_alike(one[k], two[k]) for k in one)
    return bool(one == two)


def _losses(one: _Side, two: _Side) -> Iterator[Change] | str:
    if not one.losses or not two.losses:
        return "one of them recorded no step"
    return _parting(one.losses, two.losses)


def _parting(left: list[float], right: list[float]) -> Iterator[Change]:
    pairs = list(zip(left, right, strict=False))
    at = next((i for i, (a, b) in enumerate(pairs) if a != b and not (a != a and b != b)), None)
    if at is not None:
        yield Change(
            "losses", f"step {at}", left[at], right[at], "", f"the {at} before are equal bit for bit"
        )
    elif len(left) != len(right):
        note = f"the {len(pairs)} that both have are equal bit for bit"
        yield Change("losses", "steps", len(left), len(right), "", note)


def _end(one: _Side, two: _Side) -> Iterator[Change]:
    left, right = (
        {
            "exit code": s.run.exit_code,
            "signal": s.run.signal,
            "symptoms": [x.message for x in s.run.symptoms],
        }
        for s in (one, two)
    )
    return _mapping("end", left, right)


def _mapping(group: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys([*left, *right]):
        if left.get(name) != right.get(name):
            yield Change(group, name, left.get(name), right.get(name))


def _unseen(one: _Side, two: _Side) -> str:
    which = " and ".join(s.run.id for s in (one, two) if s.first is None)
    return f"{which} recorded no step"
