"""Trainings that go on from their own file with less than they had: what is missing, and the same resume with it put back."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed, inconclusive

WATCH = ["states_resumed"]
SOURCE = ("save", "load_state_dict(")
WATCHED = Arm("as it ran, its saves and loads watched", "audit", {"watch": WATCH})
# The causal order: what an earlier kind explains is not looked for in a later one.
ORDER = ("optimizer", "scheduler", "counter", "generator")
# The losses of two stretches that compute the same.
SAME = 1e-4
# An update after the load beside those before the save: outside of this the training makes another step.
UNLIKE = 1.5
LAST = 5
# The first loss after a load, before any update, beside the largest of those before the save: other data or another task.
RECENT, OTHER = 20, 1.5
# By which share of the largest learning rate a schedule must differ.
RATES_APART = 0.05
# The share of its norm by which an average must have moved.
LEAST_APART = 1e-4
WORDS = {
    "optimizer": "the optimizer's state",
    "scheduler": "the schedule",
    "generator": "the random generators",
    "average": "the averaged weights",
    "counter": "the counter",
}


@dataclass(frozen=True)
class Twin:
    """The stretch of rows that starts with the same weights as a resume does, beside the resumed one."""

    straight: tuple[Facts, ...]
    resumed: tuple[Facts, ...]

    def apart(self) -> int | None:
        """The first step at which the losses differ; None where they are the same as far as both go."""
        pairs = zip(_losses(self.straight), _losses(self.resumed), strict=False)
        return next((n for n, (a, b) in enumerate(pairs) if not _close(a, b)), None)


def form(cause: str, kind: str) -> Silent:
    """A cause that is one kind of state left out."""

    def mine(found: Ran) -> Facts:
        return lacking(found, kind)

    def settled(cause: str, examination: Examination, event: Facts) -> Hypothesis:
        return settle(cause, kind, examination, event)

    missing = "an audit in which a training is resumed"
    return Silent(cause, mine, lambda e: told(e, kind), settled, facts, missing, watched)


def watched(examination: Examination) -> Ran | None:
    """The training by the one watcher that this takes; None where its source does not load what it saves."""
    project, lab = examination.project, examination.lab
    if not audits.may_audit(examination) or lab is None or project is None:
        return None
    if not all(any(word in m.text for m in project.modules) for word in SOURCE):
        return None
    return lab.from_start([WATCHED], lab.horizon(audits.STEPS))[WATCHED.name]


def lacking(found: Ran, kind: str) -> Facts:
    """The first resume that lacks a kind of state, with the part that is missing; empty where none does."""
    for event in found.facts.get("resumed") or []:
        part = next((m for m in event["missing"] if m["kind"] == kind), None)
        if part is None or not event["same"] or not _goes_on(found, event):
            continue
        # Numbers may be drawn anew wherever nothing shows that the same ones were meant.
        if kind in ("generator", "counter") and twin(found, event) is None:
            continue
        return dict(event) | {"part": part}
    return {}


def _goes_on(found: Ran, event: Facts) -> bool:
    """Whether a load is meant as going on: the file says where it was, another state came back, or the same batch follows."""
    if event["positions"] or event["restored"]:
        return True
    beside = twin(found, event)
    return beside is not None and beside.apart() not in (0, None)


def twin(found: Ran, event: Facts) -> Twin | None:
    """The rows of another run of the program that enter a step with the weights that were loaded; the longest such run."""
    rows, at = found.rows, int(event["row"])
    if at >= len(rows):
        return None
    starts = {int(e["row"]) for e in found.facts.get("resumed") or []}
    entering = rows[at].get("entering")
    stretches = [
        stretch(rows, n)
        for n, row in enumerate(rows)
        if n not in starts and row.get("entering") == entering and row.get("run") != rows[at].get("run")
    ]
    return Twin(max(stretches, key=len), stretch(rows, at)) if stretches else None


def stretch(rows: Sequence[Facts], start: int) -> tuple[Facts, ...]:
    """The rows of one optimizer from a row on, until another one steps."""
    run = rows[start].get("run")
    own = []
    for row in rows[start:]:
        if row.get("run") != run:
            break
        own.append(row)
    return tuple(own)


def told(event: Facts, kind: str) -> str:
    """What lived at the save and what came back, with their numbers."""
    part = event["part"]
    where = "is in the file and is not loaded" if part["in_file"] else "is not in the file"
    return (
        f"after step {event['saved_row']} a checkpoint is saved, and training goes on from it at step {event['row']}: "
        f"{_state(part)} {where}"
    )


def _state(part: Facts) -> str:
    if part["kind"] == "optimizer":
        return f"the state of {part['name']}, for {part['then']} parameters at the save and {part['now']} after the load,"
    if part["kind"] == "scheduler":
        return f"{part['name']}, at {part['then']} at the save and at {part['now']} after the load,"
    if part["kind"] == "average":
        return f"the average `{part['name']}`, {part['now']:.3g} away from what it was ({part['then']:.3g} long),"
    if part["kind"] == "counter":
        return f"`{part['name']}`, {part['then']} at the save and {part['now']} after the load,"
    return f"the state of the {part['name']} generator"


def settle(cause: str, kind: str, examination: Examination, event: Facts) -> Hypothesis:
    """Confirmed where the resume with the state put back does what the straight run does, and without it does not."""
    lab = examination.lab
    if lab is None:
        return inconclusive(cause, "the resume with the state put back: diagnose with --yes")
    if kind == "average":
        return _by_average(cause, examination, event)
    found = lab.from_start([WATCHED], lab.horizon(audits.STEPS))[WATCHED.name]
    kinds = [k for k in ORDER if any(m["kind"] == k for m in event["missing"])]
    beside = twin(found, event)
    if beside is not None and beside.apart() is None:
        return inconclusive(cause, f"{told(event, kind)}; the losses are the same without it")
    arms = [carried([kind])] + ([carried(kinds)] if len(kinds) > 1 else [])
    ran = lab.from_start(arms, lab.horizon(audits.STEPS))
    alone, together = ran[arms[0].name], ran[arms[-1].name]
    site = place(examination, event)
    if beside is not None:
        return _by_twin(cause, kind, event, (found, alone, together), site, kinds)
    return _by_step(cause, kind, event, found, alone, site)


def carried(kinds: Sequence[str]) -> Arm:
    """The program, with kinds of state put back where it loads."""
    return Arm(f"with {' and '.join(kinds)} put back", "audit", {"watch": WATCH, "carry": list(kinds)})


def _by_twin(
    cause: str, kind: str, event: Facts, runs: tuple[Ran, Ran, Ran], site: Site | None, kinds: list[str]
) -> Hypothesis:
    found, alone, together = runs
    before, after, all_back = twin(found, event), twin(alone, event), twin(together, event)
    if before is None or after is None or all_back is None:
        return inconclusive(cause, f"{told(event, kind)}; the resume could not be followed with it put back")
    at = before.apart() or 0
    number = int(event["row"]) + at
    straight, resumed = _losses(before.straight)[at], _losses(before.resumed)[at]
    text = (
        f"{told(event, kind)}; {at} steps later the loss is {resumed:.4g}, without the break {straight:.4g}"
    )
    values = {"step": number, "straight": straight, "resumed": resumed, "steps": len(after.resumed)}
    if after.apart() is None:
        text += f"; with {WORDS[kind]} put back at the load, all {min(len(after.straight), len(after.resumed))} losses are equal"
        return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))
    if all_back.apart() is None and kinds and kinds[0] == kind:
        text += f"; with {' and '.join(WORDS[k] for k in kinds)} put back, all losses are equal"
        return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))
    later = _later(before, after)
    if kind in ("optimizer", "scheduler") and all_back.apart() is not None and later:
        return _by_step(cause, kind, event, found, alone, site)
    return inconclusive(cause, f"{text}; with {WORDS[kind]} put back they still differ")


def _later(before: Twin, after: Twin) -> bool:
    one, other = before.apart(), after.apart()
    return one is not None and other is not None and other >= one


def _by_step(cause: str, kind: str, event: Facts, found: Ran, put_back: Ran, site: Site | None) -> Hypothesis:
    """By the first update after the load, beside those before the save and the same one with the state put back."""
    at, saved = int(event["row"]), int(event["saved_row"])
    if at >= len(found.rows) or at >= len(put_back.rows):
        return inconclusive(cause, f"{told(event, kind)}; the step after the load was not reached again")
    own = found.rows[saved].get("run")
    last = [
        r["update"] for r in found.rows[: saved + 1] if r.get("run") == own and r.get("update") is not None
    ]
    last, first, then = last[-LAST:], found.rows[at].get("update"), put_back.rows[at].get("update")
    if not last or first is None or then is None or not min(*last, first, then) > 0:
        return inconclusive(cause, f"{told(event, kind)}; its steps could not be measured")
    losses = _losses([r for r in found.rows[: saved + 1] if r.get("run") == own][-RECENT:])
    begins = _losses(found.rows[at : at + 1])
    if not losses or not begins or begins[0] > OTHER * max(losses):
        return inconclusive(cause, f"{told(event, kind)}; it begins on other grounds, as a warm start does")
    if kind == "scheduler":
        return _by_rates(cause, event, (found, put_back), site)
    usual = statistics.median(last)
    apart, apart_then = abs(math.log(first / usual)), abs(math.log(then / usual))
    text = (
        f"{told(event, kind)}; the first update has the norm {first:.3g} after the load and {usual:.3g} before the save, "
        f"and with {WORDS[kind]} put back {then:.3g}"
    )
    values = {"before": usual, "after": first, "put_back": then}
    if apart > math.log(UNLIKE) and apart_then < 0.5 * apart:
        return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))
    return inconclusive(cause, f"{text}: that is no jump")


def _by_rates(cause: str, event: Facts, runs: tuple[Ran, Ran], site: Site | None) -> Hypothesis:
    """By the learning rates from the load on, beside the same with the schedule put back."""
    at = int(event["row"])
    now, then = ([float(r["lr"]) for r in stretch(ran.rows, at)] for ran in runs)
    pairs = list(zip(now, then, strict=False))
    if not pairs or not max(map(max, pairs)) > 0:
        return inconclusive(cause, f"{told(event, 'scheduler')}; no learning rate was seen after the load")
    number, (one, other) = max(enumerate(pairs), key=lambda p: abs(p[1][0] - p[1][1]))
    text = (
        f"{told(event, 'scheduler')}; {number} steps after the load the learning rate is {one:.3g}, and {other:.3g} with the "
        "schedule put back"
    )
    if abs(one - other) < RATES_APART * max(map(max, pairs)):
        return inconclusive(cause, f"{text}: that is nearly the same")
    values = {"step": at + number, "rate": one, "put_back": other}
    return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))


def _by_average(cause: str, examination: Examination, event: Facts) -> Hypothesis:
    """By how far the average after the load lies from the one at the save: it is read by evaluations, not by losses."""
    part, site = event["part"], place(examination, event)
    share = part["now"] / part["then"] if part["then"] else 0.0
    text = f"{told(event, 'average')}; that is {100 * share:.2g} % of its norm"
    if part["is_weights"]:
        text += ": it equals the loaded weights, of which nothing has been averaged yet"
    if share < LEAST_APART:
        return inconclusive(cause, f"{text}: too little to tell")
    values = {"apart": part["now"], "norm": part["then"], "is_weights": part["is_weights"]}
    return confirmed(cause, site, Evidence("observation", True, text, values, site))


def place(examination: Examination, event: Facts) -> Site | None:
    """Where it is to be mended: the save that leaves it out, or the load that does not read it."""
    return examination.site(event["load"] if event["part"]["in_file"] else event["save"])


def facts(examination: Examination, event: Facts) -> Facts:
    """What a fix needs: both places, and by which names the missing thing goes in the frames around them."""
    part = event["part"]
    frames = {k: [_absolute(examination, f) for f in part[k]] for k in ("saves", "loads", "steps")}
    alike = [m for m in event["missing"] if m["kind"] == part["kind"]]
    told = {
        k: part[k]
        for k in ("kind", "name", "class", "in_file", "then", "now", "by_module", "numpy")
        if k in part
    }
    places = {k: examination.place(event[k]) for k in ("save", "load")}
    return places | frames | told | {"names": [m["name"] for m in alike]}


def _absolute(examination: Examination, frame: Facts) -> Facts:
    return examination.place(frame) | {k: frame[k] for k in ("function", "expression")}


def _losses(rows: Sequence[Facts]) -> list[float]:
    return [float(r["loss"]) for r in rows if r.get("loss") is not None]


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-7)
