"""The runs beneath .firstcause/runs: what each is and takes, which may go, and the removal of those that must."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from firstcause.errors import InputError, RecordError
from firstcause.record.folder import HOME, RunFolder
from firstcause.schema import Run

# A removal that was cut short leaves this behind, and the next one finishes it.
GOING = ".removing-"
LARGEST_HISTORY = 64 << 20


@dataclass(frozen=True)
class Listed:
    """A run as it stands on disk: its bytes, and why it must stay; ``run`` is None where it cannot be read."""

    id: str
    folder: RunFolder
    bytes: int
    run: Run | None
    held: bool
    cases: tuple[str, ...]
    problem: str = ""

    @property
    def healthy(self) -> bool:
        return self.run is not None and not self.run.symptoms

    @property
    def stays(self) -> str:
        """Why it is not removed; empty where it may be."""
        if self.held:
            return "it is still being recorded"
        return f"case {self.cases[0]} points to it" if self.cases else ""


def listed(cwd: str) -> list[Listed]:
    """The runs of a folder, oldest first; one that cannot be read is among them, with its problem."""
    runs = os.path.join(cwd, HOME, "runs")
    histories = dict(_histories(os.path.join(cwd, HOME, "cases")))
    names = sorted(os.listdir(runs)) if os.path.isdir(runs) else []
    return [_listed(os.path.join(runs, n), histories) for n in names if _is_run(os.path.join(runs, n))]


def look_at(folder: RunFolder, cwd: str) -> Listed:
    """One run, wherever it lies."""
    return _listed(folder.path, dict(_histories(os.path.join(cwd, HOME, "cases"))))


def find(cwd: str, names: Iterable[str]) -> list[Listed]:
    """The runs that are named by id, by its beginning, or as ``last``; raises ``RecordError`` for none or several."""
    known = listed(cwd)
    result: dict[str, Listed] = {}
    for name in names:
        exact = [one for one in known if one.id == name] or (known[-1:] if name == "last" else [])
        found = exact or [one for one in known if one.id.startswith(name)]
        if not found:
            raise RecordError("run-missing", f"no run {name!r} in {cwd}", "firstcause runs list")
        if len(found) > 1:
            what = f"{len(found)} runs begin with {name!r}"
            raise RecordError("run-ambiguous", what, "firstcause runs list")
        result[found[0].id] = found[0]
    return list(result.values())


def surplus(known: list[Listed], runs: int, size: int, newest: str = "") -> list[Listed]:
    """Those that must go so that at most ``runs`` with ``size`` bytes in all are left: healthy ones first, then oldest.

    What must stay is left however much it takes, and so is ``newest``.
    """
    count, total = len(known), sum(one.bytes for one in known)
    going = []
    for one in sorted(known, key=lambda k: (not k.healthy, k.id)):
        if count <= runs and total <= size:
            break
        if one.stays or one.id == newest:
            continue
        going.append(one)
        count, total = count - 1, total - one.bytes
    return going


def remove(one: Listed) -> None:
    """Remove a run, first from sight and then from the disk; raises ``RecordError`` where it is in use or cannot go."""
    path = one.folder.path
    gone = os.path.join(os.path.dirname(path), f"{GOING}{secrets.token_hex(4)}")
    try:
        with one.folder.held():
            os.rename(path, gone)
        shutil.rmtree(gone)
    except OSError as error:
        raise RecordError(
            "run-unremovable", f"{path} cannot be removed: {error}", "fix its permissions"
        ) from error


def finish_removals(cwd: str) -> None:
    """Remove what earlier removals have left behind."""
    runs = os.path.join(cwd, HOME, "runs")
    for name in os.listdir(runs) if os.path.isdir(runs) else []:
        if name.startswith(GOING):
            shutil.rmtree(os.path.join(runs, name), ignore_errors=True)


def make_room(cwd: str, runs: int, size: int, newest: str = "") -> list[Listed]:
    """Remove what is surplus and give what was removed; what cannot be removed stays."""
    finish_removals(cwd)
    going = []
    for one in surplus(listed(cwd), runs, size, newest):
        try:
            remove(one)
        except RecordError:
            # In use since, or not ours to remove: the next run tries again.
            continue
        going.append(one)
    return going


def refuse_staying(runs: Iterable[Listed], force: bool) -> None:
    """Raise ``InputError`` for a run that must stay; with ``force`` only what is being recorded must."""
    for one in runs:
        if one.held or (one.stays and not force):
            hint = "wait until its command has ended" if one.held else "--force removes it all the same"
            raise InputError("run-in-use", f"{one.id} is not removed: {one.stays}", hint)


def size_of(folder: str) -> int:
    """The bytes of all files in a folder; what a link leads to is not counted."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                # Gone meanwhile.
                continue
    return total


def _listed(path: str, histories: dict[str, bytes | None]) -> Listed:
    folder, name = RunFolder(path), os.path.basename(path)
    # By its name in the text: so a case that is damaged or of another version keeps its runs too.
    cases = tuple(sorted(case for case, text in histories.items() if text is None or name.encode() in text))
    run, problem = None, ""
    try:
        run = folder.run()
    except RecordError as error:
        problem = error.message
    return Listed(name, folder, size_of(path), run, folder.is_held(), cases, problem)


def _is_run(path: str) -> bool:
    inside = os.path.isdir(path) and not os.path.islink(path)
    return inside and not os.path.basename(path).startswith(".")


def _histories(cases: str) -> Iterator[tuple[str, bytes | None]]:
    """What each case says, as bytes; None where it cannot be read, and may point to any run."""
    for case in sorted(os.listdir(cases)) if os.path.isdir(cases) else []:
        try:
            yield case, b"".join(_contents(os.path.join(cases, case)))
        except OSError:
            yield case, None


def _contents(folder: str) -> Iterator[bytes]:
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                yield file.read(LARGEST_HISTORY)
