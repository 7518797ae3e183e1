"""The ranks of a run as a person reads them, and the same as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from firstcause.record import ranked
from firstcause.record.standing import Overview, place
from firstcause.report.frame import body, columns, heading, next_line, title
from firstcause.report.style import Style, style_on


def sentences(seen: Overview, cwd: str) -> list[str]:
    """What is wrong among the ranks, the first thing first; empty where nothing is."""
    found = []
    if seen.failed is not None:
        standing, error = seen.failed
        said = error["message"].strip().partition("\n")[0][:200]
        at = place(_own(error["frames"], standing), cwd)
        found.append(f"rank {standing['rank']} failed first, by itself: {error['type']}: {said}, at {at}")
    found += [f"rank {s['rank']} {_stands(s, cwd)}" for s in seen.standings if s["fatal"]]
    if seen.parting is not None:
        found += _parted(seen, cwd)
    if seen.late is not None:
        met = place([_line(seen.late.met)], cwd) if seen.late.met else "no line of the program"
        found.append(
            f"rank {seen.late.rank} was waited for: {seen.late.seconds:.1f} s in {seen.late.times} collectives, met most at {met}"
        )
    return found


def _parted(seen: Overview, cwd: str) -> Iterator[str]:
    parting = seen.parting
    assert parting is not None
    by_rank = {int(s["rank"]): s for s in seen.standings}
    calls = [
        f"rank {r} {'never came' if c is None else f'made {ranked.shown(c)} at ' + place(c['frames'], cwd)}"
        for r, c in sorted(parting.calls.items())
    ]
    yield f"collective {parting.seq} is the first in which the ranks differ: {', '.join(calls)}"
    for rank, call in sorted(parting.calls.items()):
        if call is None and rank in by_rank and not by_rank[rank]["fatal"]:
            yield f"rank {rank} {_stands(by_rank[rank], cwd)}; the others wait for it"


def _stands(standing: dict[str, Any], cwd: str) -> str:
    ended = standing["ended"]
    if standing["fatal"]:
        return _by_signal(standing, cwd)
    if ended is not None:
        chain = [e for e in ended["exception"] if e["type"] != "SystemExit"]
        return f"had ended with {chain[0]['type']}" if chain else "had come to its end"
    inside = f" in {standing['inside']}" if standing.get("inside") else ""
    return f"stood at {place(standing['stack'], cwd)}{inside}"


def _by_signal(standing: dict[str, Any], cwd: str) -> str:
    """Where a signal ended the rank; behind its last line, gloo may still abort, and the exception before it tells more."""
    met = _own(standing["fatal"], standing, True)
    chain = (standing["ended"] or {}).get("exception") or []
    if not met and chain:
        at = place(_own(chain[0]["frames"], standing), cwd)
        return f"had ended with {chain[0]['type']} at {at} when a signal ended it"
    if not met and standing["stack"]:
        return f"was ended by a signal at no line of the program; it was last seen at {place(standing['stack'], cwd)}"
    return f"was ended by a signal at {place(met, cwd)}"


def _own(
    frames: Sequence[dict[str, Any]], standing: dict[str, Any], innermost_first: bool = False
) -> list[dict[str, Any]]:
    """The frames of the program, innermost first: those files that its stacks and collectives name."""
    files = {f["file"] for c in standing["calls"] for f in c["frames"]} | {
        f["file"] for f in standing["stack"]
    }
    ordered = frames if innermost_first else list(reversed(frames))
    return [f for f in ordered if f["file"] in files]


def _line(text: str) -> dict[str, Any]:
    path, _, line = text.rpartition(":")
    return {"file": path, "line": int(line)}


def render_ranks(
    seen: Overview, told: Sequence[str], out: TextIO, cwd: str, color: bool, width: int, following: str
) -> None:
    """Write each rank's place, then what is wrong; ``told`` is what running them again has shown."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _page(seen, told, cwd, style, following))


def _page(seen: Overview, told: Sequence[str], cwd: str, style: Style, following: str) -> Iterator[str]:
    found = [*sentences(seen, cwd), *told]
    status = ("nothing seen", "green") if not found else ("see below", "red")
    yield from title(f"{len(seen.standings)} ranks", *status, style)
    yield from columns([(f"rank {s['rank']}", _row(s, cwd)) for s in seen.standings], style)
    for sentence in found:
        yield from heading("Seen", style) if sentence is found[0] else ()
        yield from body(sentence[:1].upper() + sentence[1:] + ".", style)
    yield from next_line(following, style)


def _row(standing: dict[str, Any], cwd: str) -> str:
    calls = standing["calls"]
    last = (
        f"last {ranked.shown(calls[-1])} at {place(calls[-1]['frames'], cwd)}" if calls else "no collective"
    )
    return f"{standing['steps']} steps, {calls[-1]['seq'] if calls else 0} collectives, {last}; {_stands(standing, cwd)}"


def ranks_to_json(seen: Overview, told: Sequence[str], cwd: str) -> dict[str, Any]:
    """The same as plain values: ``ranks``, ``seen`` as sentences, and what they are made from."""
    parting = seen.parting
    return {
        "ranks": [
            {
                "rank": s["rank"],
                "steps": s["steps"],
                "collectives": s["calls"][-1]["seq"] if s["calls"] else 0,
                "last": s["calls"][-1] if s["calls"] else None,
                "stack": s["stack"],
                "state": _stands(s, cwd),
            }
            for s in seen.standings
        ],
        "seen": [*sentences(seen, cwd), *told],
        "failed_first": None
        if seen.failed is None
        else {"rank": seen.failed[0]["rank"], "exception": seen.failed[1]},
        "parting": None
        if parting is None
        else {
            "collective": parting.seq,
            "kind": parting.kind,
            "odd": parting.odd,
            "calls": dict(parting.calls),
        },
        "late": None if seen.late is None else vars(seen.late),
    }
