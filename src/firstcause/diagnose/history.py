"""How often this command failed like this among its recorded runs, and what changed since it last went well."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from firstcause.diagnose.suspicions import suspicion
from firstcause.errors import FirstcauseError, RecordError
from firstcause.fix.verification import run_again
from firstcause.record.compare import Change, compare
from firstcause.record.folder import HOME, RunFolder
from firstcause.schema import SECTIONS, Diagnosis, Run, Symptom

# The newest so many are looked at.
MOST_RUNS = 50
MOST_CHANGES = 5


def characterised(folder: RunFolder, run: Run, diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis with its symptom counted among the runs recorded up to this one, and what changed since a good one."""
    if diagnosis.symptom is None:
        return diagnosis
    before = [(f, r, _symptom(f, r)) for f, r in _earlier(run)]
    same = [(r, symptom) for _, r, symptom in before if r.command == run.command]
    alike = sum(symptom is not None and same_way(symptom, diagnosis.symptom) for _, symptom in same)
    good = next(((f, r) for f, r, symptom in before if symptom is None and r.exit_code == 0), None)
    told = []
    if same:
        well = sum(symptom is None for _, symptom in same)
        told.append(
            f"Of {len(same) + 1} recorded runs of this command {alike + 1} failed in this way and {well} went well."
        )
    if good is not None:
        told.append(f"{_since(good[0], good[1], folder)} `firstcause diff {good[1].id} {run.id}` shows all.")
    symptom = diagnosis.symptom
    steady = [s for r, s in same if r.sources == run.sources and r.versions == run.versions]
    if any(s is None for s in steady):
        symptom = replace(symptom, intermittent=True)
    return _with(replace(diagnosis, symptom=symptom), " ".join(told))


def again(folder: RunFolder, run: Run, diagnosis: Diagnosis, times: int, seconds: float) -> Diagnosis:
    """The diagnosis with the outcome of ``times`` further runs in throw-away copies, within so many seconds in all."""
    if diagnosis.symptom is None:
        return diagnosis
    messages: list[str] = []
    done, each, why = 0, seconds / times, ""
    for _ in range(times):
        try:
            outcome = run_again(folder.path, run.folder, each)
        except FirstcauseError as error:
            why = f" ({error.message})"
            break
        done += 1
        messages += [m for m in outcome.values["symptoms"][:1] if _way(m) == _way(diagnosis.symptom.message)]
    if not done:
        return _with(diagnosis, f"It could not be run again in a copy{why}.")
    return _with(
        diagnosis,
        f"Run {done} more time{'s' if done > 1 else ''} in copies, it failed in this way {len(messages)} of {done} times{why}.",
    )


def same_way(one: Symptom, other: Symptom) -> bool:
    """Whether two symptoms are the same failure: of one kind, at one place, whatever their numbers are."""
    place = (one.site and (one.site.file, one.site.line)) == (
        other.site and (other.site.file, other.site.line)
    )
    return (
        one.kind == other.kind and place and (one.kind == "nan" or _way(one.message) == _way(other.message))
    )


def _way(message: str) -> str:
    """A message without its numbers: the type of an exception, the expectation, or that something is not finite."""
    if "not finite" in message:
        return "not finite"
    head = message.partition(" was expected")[0].partition(":")[0]
    return "".join(c for c in head if not c.isdigit()) if " was expected" not in message else head


def _earlier(run: Run) -> Iterator[tuple[RunFolder, Run]]:
    """Finished runs of the same program in the same folder that were recorded before this one, newest first."""
    home = os.path.join(run.folder, HOME, "runs")
    names = sorted(os.listdir(home), reverse=True) if os.path.isdir(home) else []
    for name in names[:MOST_RUNS]:
        folder = RunFolder(os.path.join(home, name))
        try:
            other = folder.run()
        except RecordError:
            # Of another version, or not finished: it says nothing.
            continue
        earlier = other.seconds is not None and (other.started, other.id) < (run.started, run.id)
        like = other.folder == run.folder and _program(other.command) == _program(run.command)
        if earlier and like and other.id != run.id:
            yield folder, other


def _program(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command up to its script or module, without the program's own arguments."""
    for at, word in enumerate(command):
        if word.endswith(".py"):
            return command[: at + 1]
        if word == "-m":
            # What names a test of pytest's names another program.
            return (*command[: at + 2], *(w for w in command[at + 2 :] if "::" in w))
    return command


def _symptom(folder: RunFolder, run: Run) -> Symptom | None:
    if run.symptoms:
        return run.symptoms[0]
    suspected = suspicion(folder)
    return suspected.symptom if suspected is not None and suspected.strong else None


def _since(good: RunFolder, run: Run, bad: RunFolder) -> str:
    changes = compare(good, bad).causes()
    if not changes:
        return f"Since the last good run, {run.id}, nothing that is recorded has changed:"
    named = ", ".join(map(_named, changes[:MOST_CHANGES]))
    more = f" and {len(changes) - MOST_CHANGES} more" if len(changes) > MOST_CHANGES else ""
    return f"Since the last good run, {run.id}, changed: {named}{more};"


def _named(change: Change) -> str:
    if change.group == "code":
        return change.name
    if change.name == "command":
        was, now = set(change.before), set(change.after)
        words = [w for w in change.after if w not in was], [w for w in change.before if w not in now]
        return f"the arguments ({' '.join(words[0]) or 'none'} for {' '.join(words[1]) or 'none'})"
    if change.group == "data":
        return f"the data of the first step ({change.name})"
    return f"{change.group} {change.name} ({change.before} to {change.after})"


def _with(diagnosis: Diagnosis, text: str) -> Diagnosis:
    if not text:
        return diagnosis
    section = SECTIONS[0]
    whole = f"{diagnosis.sections[section]}\n\n{text}"
    return replace(diagnosis, sections=diagnosis.sections | {section: whole})
