"""From how a command ended and what its processes wrote to what failed."""

from __future__ import annotations

import os
import shutil
import signal as signals
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from firstcause.errors import RecordError
from firstcause.installed import is_installed
from firstcause.record import reserve, sources
from firstcause.record.folder import RunFolder, relative
from firstcause.record.journal import Reading, columns_of
from firstcause.record.supervise import calls, surroundings
from firstcause.record.supervise.expect import Expected
from firstcause.record.supervise.launch import Ending
from firstcause.record.supervise.unseen import unseen
from firstcause.schema import Expectation, Run, Site, Symptom


def concluded(run: Run, folder: RunFolder, ending: Ending, expected: Sequence[Expected] = ()) -> Run:
    """The run with its ending, its symptoms, and what its processes said of themselves."""
    if not os.path.isfile(folder.file("run.json")):
        raise RecordError(
            "run-removed",
            f"{folder.path} was removed while its command ran: there is no record",
            "run the command again",
        )
    reserve.give(folder.path)
    readings = list(folder.journals().values())
    columns = columns_of(readings) if expected else {}
    expectations = tuple(e.judged(columns) for e in expected)
    events = [e for r in readings for e in r.events]
    notes = [_note(e) for e in events if e.get("event") in ("internal-error", "note")]
    notes += [f"expected {e.text}: {e.where}" for e in expectations if e.met is None]
    if not readings:
        notes += filter(None, [unseen(run.command, run.folder)])
    files = {f for e in events if e.get("event") == "sources" for f in e["files"]}
    hashes = surroundings.hashes(files)
    sources.keep(folder, hashes)
    # Of replays that were killed with their process.
    shutil.rmtree(folder.file("scratch"), ignore_errors=True)
    first = next((e for e in events if e.get("event") == "first-step"), {})
    return replace(
        run,
        seconds=round(ending.seconds, 3),
        exit_code=ending.exit_code,
        signal=ending.signal,
        observed=bool(readings),
        sources=hashes,
        versions=first.get("versions"),
        symptoms=symptoms(folder, readings, ending, run.folder, expectations),
        notes=tuple(notes),
        expectations=expectations,
    )


def _note(event: dict[str, Any]) -> str:
    """What a process said of its record; of our own failure the place, and the last line of its traceback."""
    if event["event"] == "note":
        return f"note: {event.get('text')}"
    last = str(event.get("text", "")).strip().rpartition("\n")[2]
    return f"internal-error: {event.get('where')}: {last}"


def symptoms(
    folder: RunFolder,
    readings: Sequence[Reading],
    ending: Ending,
    cwd: str,
    expectations: Sequence[Expectation] = (),
) -> tuple[Symptom, ...]:
    """The failures of a run, the first one first, behind them expectations not met; empty for a healthy one."""
    found: list[Symptom] = []
    # What ranks have averaged is bad on all of them: first comes the one whose own loss is.
    failures = sorted(folder.failures(), key=lambda f: "rank" in f and f.get("bad_losses") == [])
    events = [e for r in readings for e in r.events]
    unhandled = [e["exception"] for e in events if e.get("event") == "unhandled"]
    # What a test says is no failure of the program's own, also where it says so within a step.
    said = [e["exception"] for e in events if e.get("event") == "not-met"]
    failed = ending.signal is not None or ending.exit_code not in (0, None)
    for facts in failures:
        if "call" in facts:
            continue
        if facts["kind"] == "nan":
            found.append(_not_finite(facts))
        elif facts["kind"] == "exception" and failed and _same(facts, unhandled):
            if said and _same(facts, said):
                continue
            found.append(_raised(facts["exception"], cwd, facts["step"], int(facts.get("rank", 0))))
    met = [f for f in failures if "call" in f and calls.is_symptom(f, failed, unhandled)]
    if not any(s.kind == "exception" for s in found) and not any(f["kind"] == "exception" for f in met):
        found.extend(
            _raised(chain, cwd, None) for chain in unhandled[:1] if chain[0]["type"] != "KeyboardInterrupt"
        )
    found += [calls.symptom(f, events, site_of(calls.frames(f), cwd), cwd) for f in met]
    if ending.signal is not None:
        found.append(Symptom("signal", f"the command was ended by {signals.Signals(ending.signal).name}"))
    elif failed and not found and not said:
        found.append(
            Symptom(
                "exit-code", f"the command ended with exit code {ending.exit_code} and no exception was seen"
            )
        )
    found.extend(_not_met(e) for e in expectations if e.met is False)
    return (*found, *(_said(chain, cwd) for chain in said[:1]))


def _said(chain: list[dict[str, Any]], cwd: str) -> Symptom:
    """What a test did not find as it expects, and the statement that says so."""
    site = site_of(chain[0]["frames"], cwd)
    first = chain[0]["message"].strip().partition("\n")[0]
    asked = f"`{site.text}`" if site is not None and site.text else "what a test asks for"
    return Symptom("expectation", f"{asked} was expected to hold{f': {first}' if first else ''}", site)


def _not_met(expectation: Expectation) -> Symptom:
    what = f"{expectation.text} was expected, and it was {expectation.observed:.6g}"
    return Symptom("expectation", f"{what} ({expectation.where})")


def _not_finite(facts: dict[str, Any]) -> Symptom:
    bad, total = facts["bad_gradients"], facts["gradients"]
    losses = ", ".join(f"{x}" for x in facts["losses"][-3:]) or "not seen"
    what = f"{len(bad)} of {total} gradients are not finite" if bad else "the loss is not finite"
    return Symptom(
        "nan",
        f"{what} before the optimizer's step {facts['step']}; loss {losses}",
        step=facts["step"],
        rank=int(facts.get("rank", 0)),
    )


def _raised(chain: list[dict[str, Any]], cwd: str, step: int | None, rank: int = 0) -> Symptom:
    error = chain[0]
    return Symptom(
        "exception", f"{error['type']}: {error['message']}".strip(), site_of(error["frames"], cwd), step, rank
    )


def _same(facts: dict[str, Any], unhandled: list[list[dict[str, Any]]]) -> bool:
    """Whether an exception seen in a unit is one that ended the program, and not one that it handled."""
    mine = facts["exception"][0]
    every = [e for chain in unhandled for e in chain]
    return not every or any((e["type"], e["message"]) == (mine["type"], mine["message"]) for e in every)


def site_of(frames: list[dict[str, Any]], cwd: str) -> Site | None:
    """The innermost frame in the user's own code, its file relative to the run's folder where it lies in it."""
    for frame in reversed(frames):
        path = frame["file"]
        if (
            path.startswith("<")
            or is_installed(path)
            or f"{os.sep}lib{os.sep}python" in path
            or "firstcause" in path.split(os.sep)
        ):
            continue
        return Site(relative(path, cwd), frame["line"], frame["function"], frame["text"])
    return None
