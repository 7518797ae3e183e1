"""Where the time of a training goes, which of its work is done again, and how fast the same steps are without that.

A cause of slowness is established by one change alone: the same steps with the same losses, at least ``FASTER`` times as
fast. That is a third of the time: less is lost in the noise of a shared machine, and not worth a change of the program.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from typing import Any

from firstcause.lab import paces
from firstcause.lab.counterfactual import Arm, Lab, Ran
from firstcause.record.journal import steps_of
from firstcause.schema import Site
from firstcause.source.module import Module
from firstcause.source.pieces import Piece, located, pieces
from firstcause.specialists.examination import Examination, Facts

SAMPLED = Arm("sampled", settings={"sampled": True})
PLAIN = Arm("as it ran")
WATCHED = Arm("watched")
CHANGED = (Arm("changed"), Arm("changed again"))
FASTER = 1.5
# Steps and seconds of processor time (waits included) below which nobody calls a training slow.
LEAST_STEPS, LEAST_SECONDS = 8, 0.5
LIMIT = 3.0
# With at least this share of the time in the loader a whole run of up to so many seconds is measured, for its later passes;
# so many arms of that length are to be paid for in all.
LEAST_DATA, LONGEST, ARMS = 0.6, 15.0, 8
# The share of the steps' time that a line must have a part in to be looked at, and how many pieces at once.
LEAST_SHARE, MOST_PIECES = 0.25, 10
# The losses of two arms that compute the same but for the order of sums.
SAME = 1e-4


def pace(examination: Examination) -> Facts:
    """The steps as they are: ``steps``, ``seconds``, ``spread``, ``stacks``; empty where they were not or are not slow."""
    return examination.once("pace", lambda: _pace(examination))


def _pace(examination: Examination) -> Facts:
    lab = examination.lab
    if lab is None:
        return {}
    taken = len(steps_of(examination.folder.journals().values()))
    if taken < LEAST_STEPS:
        return {}
    measured = _measured(lab, taken, LIMIT)
    longer = LIMIT * taken / max(measured.get("steps", 0), 1)
    # Work that only a second pass over the data repeats does not show within the first one.
    unseen = measured.get("passes") == 1 and parts(measured).get("data", 0.0) >= LEAST_DATA
    if unseen and LIMIT < longer <= LONGEST and lab.seconds_left > ARMS * longer:
        measured = _measured(lab, taken, longer)
    return measured


def _measured(lab: Lab, taken: int, limit: float) -> Facts:
    # Looking at the lines is taken off the time, so that both arms measure the same.
    ran = paces.measure(lab, [SAMPLED, PLAIN], taken + 1, limit)
    arms = [r for r in ran.values() if r.facts]
    if len(arms) < 2:
        return {"why": ran[SAMPLED.name].why or ran[PLAIN.name].why}
    steps = min(len(a.facts["times"]) for a in arms)
    if steps < LEAST_STEPS:
        return {}
    found = [seconds_of(a, steps) for a in arms]
    if min(found) < LEAST_SECONDS:
        return {}
    return {
        "steps": steps,
        "limit": limit,
        "seconds": sum(found) / len(found),
        "spread": (max(found) - min(found)) / min(found),
        "losses": list(arms[0].losses[:steps]),
        "stacks": ran[SAMPLED.name].facts["stacks"],
        "compiled": arms[0].facts["compiled"],
        "passes": arms[0].facts["passes"],
    }


def seconds_of(ran: Ran, steps: int) -> float:
    """What so many steps cost but for the first, with all that was done between them."""
    times: list[float] = ran.facts["times"]
    return times[steps - 1] if steps < len(times) or ran.ended != "program" else float(ran.facts["total"])


def parts(measured: Facts) -> dict[str, float]:
    """The shares of the steps' time: data, backward, optimizer, other."""
    whole = sum(s["count"] for s in measured["stacks"]) or 1
    found: dict[str, float] = {}
    for stack in measured["stacks"]:
        found[stack["part"]] = found.get(stack["part"], 0.0) + stack["count"] / whole
    return found


# ------------------------------------------------------------------ what is done again


def lines(measured: Facts) -> list[Facts]:
    """Each line of the program with its share of the time, the share of it in the loader and in modules, and its depth."""
    whole = sum(s["count"] for s in measured["stacks"]) or 1
    found: dict[tuple[str, int], Facts] = {}
    for stack in measured["stacks"]:
        frames = stack["frames"]
        getitem = next((k for k, f in enumerate(frames) if f[2] in ("__getitem__", "__getitems__")), -1)
        for k, (file, line, function) in enumerate(frames):
            if any(f[:2] == [file, line] for f in frames[:k]):
                continue
            row = found.setdefault(
                (file, line),
                {"file": file, "line": line, "function": function, "share": 0.0, "data": 0.0, "called": 0.0}
                | {"trained": 0.0, "outer": 99, "below": set()},
            )
            share = stack["count"] / whole
            row["share"] += share
            row["data"] += share * (stack["part"] == "data" or k <= getitem)
            row["called"] += share * (0 <= stack["called"] <= k)
            row["trained"] += share * (stack["part"] in ("backward", "optimizer"))
            row["outer"] = min(row["outer"], len(frames) - k)
            row["below"] |= {(f[0], f[1], f[2]) for f in frames[:k]}
    return sorted(found.values(), key=lambda r: (-r["share"], r["outer"]))


def watched(examination: Examination) -> list[Facts]:
    """The pieces of the program in which the time goes, with what was seen of their inputs and results."""
    return examination.once("watched pieces", lambda: _watched(examination))


def _watched(examination: Examination) -> list[Facts]:
    measured = pace(examination)
    if not measured.get("stacks") or examination.project is None or examination.lab is None:
        return []
    asked: list[Facts] = []
    for row in lines(measured):
        module = examination.project.module(row["file"])
        if row["share"] < LEAST_SHARE or module is None:
            continue
        # What holds the pass of a model, backward or a step is the training itself.
        if row["called"] > 0.5 * row["share"] or row["trained"] > 0.1 * row["share"]:
            continue
        for piece in pieces(module.tree, row["line"]):
            if piece.kind != "iter" and trains(measured, row["file"], piece.line, piece.last):
                continue
            at = {"file": row["file"], **piece.plain()}
            if not any(all(a[k] == v for k, v in at.items()) for a in asked):
                asked.append(at | {"row": row, "number": len(asked), "how": "watch"})
    asked = asked[:MOST_PIECES]
    if not asked:
        return []
    statements = [{k: v for k, v in a.items() if k != "row"} for a in asked]
    ran = paces.measure(examination.lab, [WATCHED], measured["steps"], measured["limit"], statements)[
        WATCHED.name
    ]
    found = []
    for one in asked:
        seen = (ran.facts.get("pieces") or {}).get(str(one["number"]))
        if seen is not None:
            whole = max(ran.facts["total"], 1e-9)
            found.append(one | {"seen": seen, "again": seen["repeated_seconds"] / whole})
    return found


def trains(measured: Facts, file: str, first: int, last: int) -> bool:
    """Whether these lines hold a backward pass, a step or the pass of a model."""
    inside = [r for r in lines(measured) if r["file"] == file and first <= r["line"] <= last]
    return any(r["trained"] or r["called"] > 0.5 * r["share"] for r in inside)


def share_of(measured: Facts, file: str, first: int, last: int) -> float:
    """The share of the steps' time in which one of these lines has a part."""
    whole = sum(s["count"] for s in measured["stacks"]) or 1
    mine = [s for s in measured["stacks"] if any(f[0] == file and first <= f[1] <= last for f in s["frames"])]
    return float(sum(s["count"] for s in mine) / whole)


def site_at(examination: Examination, file: str, line: int) -> Site | None:
    """The Site of the innermost statement that begins on a line."""
    module = examination.project.module(file) if examination.project is not None else None
    nodes = (
        [n for n in module.nodes_on(line) if getattr(n, "lineno", 0) == line] if module is not None else []
    )
    return module.site(nodes[0]) if module is not None and nodes else None


def repeated(examination: Examination) -> Facts:
    """The piece whose work is done again for the same inputs and gives the same, and takes the most time; else empty."""
    good = [w for w in watched(examination) if _is_again(w) and w["again"] >= 1 - 1 / FASTER]
    if not good:
        return {}
    most = max(w["again"] for w in good)
    # Of those that save about as much the outermost: that is where it is decided how often the work is done.
    near = [w for w in good if w["again"] >= 0.9 * most]
    return min(near, key=lambda w: (w["row"]["outer"], w["kind"] == "body", w["last"] - w["line"]))


def _is_again(piece: Facts) -> bool:
    seen = piece["seen"]
    return bool(
        seen["repeats"] >= 3
        and seen["unequal"] == 0
        and seen["unknown"] <= 0.05 * seen["calls"]
        and seen["distinct"] <= seen["calls"] / 2
    )


# ------------------------------------------------------------------ one thing changed


def apart(examination: Examination, statements: Sequence[Mapping[str, Any]]) -> Facts:
    """The same steps with statements run less often, and neither they nor the others moving the random numbers of the rest."""
    measured = pace(examination)
    if examination.lab is None or not measured.get("steps"):
        return {"why": "the same steps could not be measured"}
    still = [{**s, "how": "watch", "apart": True} for s in statements]
    ran = paces.measure(examination.lab, [WATCHED], measured["steps"], measured["limit"], still)[WATCHED.name]
    if not ran.losses:
        return {
            "why": f"the steps with the random numbers put back were not seen: {ran.exception or ran.why}"
        }
    return changed(examination, [{**s, "apart": True} for s in statements], losses=ran.losses)


def changed(
    examination: Examination,
    statements: Sequence[Mapping[str, Any]],
    arms: Sequence[Arm] = CHANGED,
    losses: Sequence[float] | None = None,
) -> Facts:
    """The same steps with a change: ``gain``, ``before``, ``after`` in seconds a step, and whether the losses are the same.

    ``losses`` are those that they are compared with, of the steps as they are where None.
    """
    measured = pace(examination)
    if examination.lab is None or not measured.get("steps"):
        return {"why": "the same steps could not be measured"}
    ran = paces.measure(examination.lab, arms, measured["steps"], measured["limit"], statements)
    done = [r for r in ran.values() if r.facts and r.ended in ("steps", "program")]
    if not done:
        failed = next(iter(ran.values()))
        return {"why": f"the changed program did not run: {failed.exception or failed.why}"}
    steps = min(measured["steps"], *(len(r.facts["times"]) for r in done))
    if steps < measured["steps"]:
        return {"why": f"the changed program took {steps} steps instead of {measured['steps']}"}
    after = [seconds_of(r, steps) for r in done]
    mean = sum(after) / len(after)
    return {
        "steps": steps,
        # The first step is not measured.
        "before": measured["seconds"] / (steps - 1),
        "after": mean / (steps - 1),
        "gain": measured["seconds"] / max(mean, 1e-9),
        "spread": max(measured["spread"], (max(after) - min(after)) / max(min(after), 1e-9)),
        "same": all(_same(losses if losses is not None else measured["losses"], r.losses) for r in done),
        "pieces": done[0].facts["pieces"],
    }


def _same(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=False))
    return bool(pairs) and all(math.isclose(a, b, rel_tol=SAME, abs_tol=SAME) for a, b in pairs)


def told(change: Facts, what: str) -> str:
    """The two paces in one sentence."""
    return (
        f"{what}, {change['steps']} steps take {1000 * change['after']:.1f} ms each instead of "
        f"{1000 * change['before']:.1f} ms of processor time ({change['gain']:.1f} times as fast, "
        f"measurements of one kind differ by at most {100 * change['spread']:.0f} %), and the losses are the same"
    )


def text_of(examination: Examination, piece: Facts) -> tuple[Module, list[ast.stmt]] | None:
    """The file of a piece and its statements."""
    module = examination.project.module(piece["file"]) if examination.project is not None else None
    at = Piece(piece["line"], piece["column"], piece["last"], piece["kind"])
    found = located(module.tree, at) if module is not None else None
    return (module, found[0][found[1] : found[2] + 1]) if module is not None and found is not None else None
