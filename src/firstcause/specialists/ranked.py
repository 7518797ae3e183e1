"""What the ranks of a program did when they were run again side by side, and where their ways parted."""

from __future__ import annotations

from functools import partial
from typing import Any

from firstcause.lab.counterfactual import Ran
from firstcause.lab.ranks import Ranks
from firstcause.record import ranked
from firstcause.record.ranked import Parting
from firstcause.schema import Site
from firstcause.specialists.branching import Branch, branch
from firstcause.specialists.examination import Examination, Facts

CONSENT = "all ranks run again side by side: diagnose with --yes"
NAME = "all ranks, watched"


def failing(examination: Examination) -> bool:
    """Whether the run has several ranks and failed."""
    if examination.lab is None or examination.lab.world < 2:
        return False
    return examination.symptom.kind in ("exception", "signal", "exit-code")


def again(examination: Examination) -> Ranks:
    """The ranks run again; empty, with the reason, where that is not possible."""
    return examination.lab.ranks if examination.lab is not None else Ranks(why=CONSENT)


def parting(examination: Examination) -> Parting | None:
    """The first collective in which the ranks differ, when they were run again."""
    return examination.once("parting", lambda: ranked.parted(again(examination).standings))


def branch_of(examination: Examination) -> Branch | None:
    """The statement at which the ways of the ranks part before that collective."""
    return examination.once("branch", partial(_branch, examination))


def _branch(examination: Examination) -> Branch | None:
    found, apart = again(examination), parting(examination)
    if apart is None or examination.project is None:
        return None
    one, other = apart.odd, apart.other
    ways = [found.ways.get(rank) for rank in (one, other)]
    if ways[0] is None or ways[1] is None:
        return None
    stacks = []
    for i, rank in enumerate((one, other)):
        frames = (apart.calls[rank] or {}).get("frames") or []
        way = ways[i]
        if frames and way is not None:
            ways[i] = way.until(frames[0]["file"], frames[0]["function"], frames[0]["line"])
        stacks.append(frames)
    assert ways[0] is not None
    assert ways[1] is not None
    return branch(examination.project, (one, other), (ways[0], ways[1]), (stacks[0], stacks[1]))


def of_run(examination: Examination) -> Ran:
    """The same in the form of an audit: nothing but ``ranks`` in its facts, and a row for each step of the first rank."""
    return as_audit(again(examination))


def as_audit(found: Ranks) -> Ran:
    steps = max((int(s["steps"]) for s in found.standings), default=0)
    ended = "lost" if found.why or found.failed else "program"
    why = found.why or ("its ranks did not come to their end" if found.failed else "")
    return Ran(NAME, ended, tuple({"step": i} for i in range(steps)), why, facts={"ranks": found.standings})


def facts_of(found: Ran, name: str) -> list[tuple[int, Any]]:
    """What one watcher saw, by rank, out of such an audit."""
    return [
        (int(s["rank"]), s["audit"][name])
        for s in found.facts.get("ranks") or ()
        if (s.get("audit") or {}).get(name) is not None
    ]


def told(examination: Examination, apart: Parting) -> str:
    """Each rank's collective at the place where they part, with its line."""
    texts = []
    for rank, call in sorted(apart.calls.items()):
        site = site_of(examination, call)
        texts.append(
            f"rank {rank} {'did not come' if call is None else f'made {ranked.shown(call)} at {site}'}"
        )
    return f"collectives 1 to {apart.alike} are alike on all ranks; then, at number {apart.seq}, {', '.join(texts)}"


def site_of(examination: Examination, call: Facts | None) -> Site | None:
    """The line of the program that made a collective."""
    frames = (call or {}).get("frames") or []
    module = examination.project.module(frames[0]["file"]) if frames and examination.project else None
    text = module.line(frames[0]["line"]).strip() if module is not None else ""
    return examination.site(frames[0] | {"text": text}) if frames else None
