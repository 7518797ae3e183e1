"""Where a resumed training goes on: the batches and learning rates after the load beside those of the straight run."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.lab.follow.batches import COMPARED, LEAST, only_start
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, resumes
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

SHIFTS = (1, -1)


def misplaced(found: Ran) -> Facts:
    """The first resume that goes on at another place than it was saved at; empty where none does.

    ``moved`` is by how many steps: negative where steps are repeated. ``rates`` says that the learning rates are those of
    the run's first steps. ``longer`` is by how many steps the resumed run is longer than the straight one.
    """
    for event in found.facts.get("resumed") or []:
        if not event["same"] or not (event["positions"] or event["restored"]):
            continue
        own = _moved(found, event)
        if own:
            return dict(event) | own
    return {}


def _moved(found: Ran, event: Facts) -> Facts:
    beside = resumes.twin(found, event)
    if beside is None:
        return _repeated(found, event)
    run, at = _run_of(found, beside.straight[0])
    there, here = [r.get("batch") for r in run], [r.get("batch") for r in beside.resumed[:COMPARED]]
    if here and at < len(there) and there[at] != here[0]:
        moved = _offset(there, here, at)
        # From the very start again is what a training on other grounds does, too.
        return {"moved": moved} if moved and (at + moved > 0 or event["restored"]) else {}
    longer = len(beside.resumed) - len(beside.straight)
    if longer and len(beside.straight) > 1 and beside.apart() is None:
        return {"longer": longer, "moved": 0}
    if not any(m["kind"] == "scheduler" for m in event["missing"]) and _starts_anew(run, at, beside.resumed):
        return {"rates": [run[at]["lr"], beside.resumed[0]["lr"]], "moved": -at}
    return {}


def _run_of(found: Ran, row: Facts) -> tuple[list[Facts], int]:
    run = [r for r in found.rows if r.get("run") == row.get("run")]
    return run, next(n for n, r in enumerate(run) if r is row)


def _repeated(found: Ran, event: Facts) -> Facts:
    """Batches after the load that the saving run had before the save, each of them once."""
    if int(event["row"]) >= len(found.rows):
        return {}
    saved = found.rows[int(event["saved_row"])]
    run, last = _run_of(found, saved)
    there = [r.get("batch") for r in run[: last + 1]]
    here = [r.get("batch") for r in resumes.stretch(found.rows, int(event["row"]))[:COMPARED]]
    moved = _offset(there, here, last + 1)
    return {"moved": moved} if moved and last + 1 + moved > 0 else {}


def _offset(there: Sequence[str | None], here: Sequence[str | None], at: int) -> int:
    """How far from ``at`` the batches of ``here`` begin in ``there``; 0 where they do not, or at several places."""
    start = only_start(there, here)
    return start - at if start is not None else 0


def _starts_anew(run: Sequence[Facts], at: int, resumed: Sequence[Facts]) -> bool:
    """Whether the learning rates are those of the run's first steps, and were others where it was saved."""
    now = [r["lr"] for r in resumed[:COMPARED]]
    first, there = [r["lr"] for r in run[: len(now)]], [r["lr"] for r in run[at : at + len(now)]]
    return at > 0 and len(now) >= LEAST and len(set(now)) >= LEAST and now == first != there


def told(event: Facts) -> str:
    """At which step it was saved, and at which it goes on."""
    start = f"a checkpoint is saved after step {event['saved_row']}, and training goes on from it at step {event['row']}"
    if event.get("rates"):
        there, here = event["rates"]
        return f"{start} with the learning rates of the run's first steps: {here:.3g} where the straight run has {there:.3g}"
    if event.get("longer"):
        more = event["longer"]
        return f"{start}: {abs(more)} steps {'more' if more > 0 else 'less'} than the straight run from there"
    where = "before: they are trained on again" if event["moved"] < 0 else "later: those between are left out"
    return f"{start} with the batches of {abs(event['moved'])} steps {where}"


def settle(cause: str, examination: Examination, event: Facts) -> Hypothesis:
    """Confirmed by the resume with the position in the file moved by one, or by the batches themselves."""
    lab = examination.lab
    if lab is None:
        return inconclusive(cause, "the resume with another position: diagnose with --yes")
    site = examination.site(event["load"])
    if event["positions"]:
        arms = [Arm(f"position {s:+d}", "audit", {"watch": resumes.WATCH, "shift": s}) for s in SHIFTS]
        # A later position repeats less, an earlier one leaves less out.
        less = (event.get("longer") or -event["moved"]) > 0
        arm = arms[0] if less else arms[1]
        ran = lab.from_start([arm], lab.horizon(audits.STEPS))[arm.name]
        then = next(iter(ran.facts.get("resumed") or []), None)
        beside = resumes.twin(ran, then) if then is not None else None
        same = beside is not None and beside.apart() is None and len(beside.straight) == len(beside.resumed)
        if same or (then is not None and beside is None and not _moved(ran, then)):
            text = f"{told(event)}; with {arm.settings['shift']:+d} on the position that the file holds, "
            text += "batches and losses are those of the straight run" if same else "no batch comes again"
            values = {"moved": event["moved"], "longer": event.get("longer"), "shift": arm.settings["shift"]}
            return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))
    if event.get("longer"):
        return inconclusive(cause, f"{told(event)}; another position does not change that")
    if any(m["kind"] == "generator" for m in event["missing"]):
        arm = resumes.carried(["generator"])
        ran = lab.from_start([arm], lab.horizon(audits.STEPS))[arm.name]
        if not misplaced(ran):
            return inconclusive(
                cause, f"{told(event)}; with the random generators put back it goes on where it was"
            )
    values = {k: event[k] for k in ("moved", "rates") if k in event}
    return confirmed(cause, site, Evidence("observation", True, told(event), values, site))


def facts(examination: Examination, event: Facts) -> Facts:
    """What a fix needs: the load, its frames, and the keys of positions in the file."""
    shift = 1 if (event.get("longer") or -event["moved"]) > 0 else -1
    keys = list(event["positions"])
    frames = [examination.place(f) | {"function": f["function"]} for f in event["frames"]]
    return {
        "load": examination.place(event["load"]),
        "save": examination.place(event["save"]),
        "loads": frames,
    } | {
        "keys": keys,
        "shift": shift,
    }
