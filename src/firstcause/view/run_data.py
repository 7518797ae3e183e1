"""What the page shows of a run, as JSON-ready data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firstcause.case import describe
from firstcause.record.kept_looks import KeptMemory, KeptProfile
from firstcause.schema import Run, to_plain
from firstcause.view.failure_data import failure_to_json
from firstcause.view.following import Follower
from firstcause.view.heat import heat
from firstcause.view.looks import sampled, time_split
from firstcause.view.memory_steps import memory_steps
from firstcause.view.numbers import figure, numbers
from firstcause.view.thinning import Thinned

PREFIX = "grad_norm/"
# Said elsewhere on the page, or only for those who read the journal.
_UNSAID = ("failure", "memory", "look", "sources", "start", "first-step")
_LONGEST = 400


def run_to_json(
    run: Run,
    followers: Iterable[Follower],
    failures: Sequence[Mapping[str, Any]] = (),
    live: bool = False,
    cases: Sequence[str] = (),
    memory: KeptMemory | None = None,
    profile: KeptProfile | None = None,
) -> dict[str, Any]:
    """The run, its tracks (one a process and optimizer) with their series, memory, events and failures.

    ``memory`` and ``profile`` are what commands have kept beside the record.

    Of each interval of steps a series holds the lowest and the highest finite value; seconds and bytes are what
    they are called.
    """
    followers = sorted(followers, key=lambda f: (f.rank, f.name))
    names = list(
        dict.fromkeys(
            n[len(PREFIX) :]
            for f in followers
            for t in f.tracks.values()
            for n in t.columns
            if n.startswith(PREFIX)
        )
    )
    return {
        "kind": "run",
        "id": run.id,
        "command": list(run.command),
        "folder": run.folder,
        "started": run.started,
        "seconds": run.seconds,
        "exit_code": run.exit_code,
        "signal": run.signal,
        "python": run.python,
        "platform": run.platform,
        "versions": run.versions or {},
        "git": f"{run.git_revision[:12]}{' and changes' if run.git_dirty else ''}"
        if run.git_revision
        else "",
        "observed": run.observed,
        "live": live,
        "symptoms": [{"kind": s.kind, "text": describe(s), "step": s.step} for s in run.symptoms],
        "expectations": to_plain(run.expectations),
        "notes": list(run.notes),
        "cases": list(cases),
        "tracks": [
            _track(follower, number, thinned)
            for follower in followers
            for number, thinned in enumerate(follower.tracks.values())
            if thinned.rows
        ],
        "memory": [m for m in map(_memory, followers) if m["step"]],
        "looks": [one for follower in followers for one in sampled(follower)],
        "memory_look": memory_steps(memory, run.folder) if memory else None,
        "profile": time_split(profile) if profile else None,
        "imported": not run.command,
        "events": [_event(f, e) for f in followers for e in f.events if e.get("event") not in _UNSAID],
        "left_events": sum(f.left_events for f in followers),
        "failures": to_plain([failure_to_json(facts, run.folder, names) for facts in failures]),
    }


def _track(follower: Follower, number: int, thinned: Thinned) -> dict[str, Any]:
    steps, low, high, bad = thinned.buckets()
    several = len(follower.tracks) > 1
    norms = [at for at, name in enumerate(thinned.columns) if name.startswith(PREFIX)]
    series = {}
    for at, name in enumerate(thinned.columns):
        if name.startswith(PREFIX):
            continue
        lows, highs = numbers(low[:, at]), numbers(high[:, at])
        marked = [n for n, wrong in enumerate(bad[:, at].tolist()) if wrong]
        # The first row has no step before it to be timed from.
        if name == "seconds" and lows and steps[0] == 0 and thinned.width == 1:
            lows[0] = highs[0] = None
        series[name] = {"low": lows, "high": None if highs == lows else highs, "bad": marked}
    return {
        "process": follower.name,
        "rank": follower.rank,
        "label": f"rank {follower.rank}" + (f", optimizer {number + 1}" if several else ""),
        "rows": thinned.rows,
        "last_step": thinned.last_step,
        "width": thinned.width,
        "steps": steps,
        "series": series,
        "heat": heat([thinned.columns[n][len(PREFIX) :] for n in norms], steps, high[:, norms], bad[:, norms])
        if norms
        else None,
    }


def _memory(follower: Follower) -> dict[str, Any]:
    seen = [e for e in follower.events if e.get("event") == "memory" and isinstance(e.get("step"), int)]
    names = [n for n in ("resident", "allocated", "reserved", "peak") if any(n in e for e in seen)]
    return {
        "rank": follower.rank,
        "label": f"rank {follower.rank}",
        "step": [e["step"] for e in seen],
        "series": {name: [figure(e.get(name)) for e in seen] for name in names},
    }


def _event(follower: Follower, event: Mapping[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in event.items() if key not in ("event", "step", "text")}
    said = str(event.get("text", ""))
    told = ", ".join(f"{key} {value}" for key, value in rest.items())
    text = f"{said} {told}".strip()
    step = event.get("step")
    return {
        "rank": follower.rank,
        "step": step if isinstance(step, int) else None,
        "event": str(event.get("event")),
        "text": text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…",
    }
