"""Rows of a series that hold their own target: with one value of the series changed, the row that is to predict it changes."""

from __future__ import annotations

from dataclasses import dataclass

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.source.own_values import Reading, Series, series
from firstcause.source.pairing.texts import changed
from firstcause.source.rewrites import Rewrite, statements_of
from firstcause.specialists.examination import Examination, Facts

WATCH = {"watch": ["targets_in_input"], "samples": True}
MOST_SERIES = 2
# Steps in which one value of a series comes up among the targets.
STEPS = 80
# The value is changed by 1: less than this is rounding.
SAME = 1e-4


@dataclass(frozen=True)
class Shown:
    """The reading that lets a row see its target, how many such rows were seen, and the columns that changed."""

    series: Series
    reading: Reading
    rows: int
    columns: tuple[int, ...]


def fitted(found: Ran) -> Facts | None:
    """The loss whose targets are a sum of the inputs' columns to rounding."""
    of: list[Facts] = found.facts.get("fitted") or []
    return of[0] if of else None


def candidates(examination: Examination) -> list[Series]:
    """The functions of the program that make rows and targets of one series."""
    return series(examination.project)[:MOST_SERIES] if examination.project is not None else []


def shown(examination: Examination) -> Shown | None:
    """The first reading with which a row sees its target, and one place earlier does not."""
    found: Shown | None = examination.once("own values", lambda: _shown(examination))
    return found


def place(one: Shown) -> Facts:
    """Facts for the patch: the statement of the reading, and where its index stands."""
    module, reading = one.series.module, one.reading
    where = [reading.index.lineno, reading.index.col_offset]
    return {"file": module.path, "line": reading.statement.lineno, "earlier": True, "index": where}


def _shown(examination: Examination) -> Shown | None:
    lab = examination.lab
    if lab is None:
        return None
    steps = min(STEPS, lab.horizon(STEPS))
    name = "the training, its samples kept"
    plain = lab.from_start([Arm(name, "audit", WATCH)], steps)[name]
    number = _number(plain)
    if number is None:
        return None
    for one in candidates(examination):
        name = f"one value of {one.name} changed"
        other = lab.rewritten(Arm(name, "audit", WATCH), steps, [_changed(one)])
        rows, columns = _differ(plain, other, number)
        if not rows or not columns:
            continue
        for reading in one.readings:
            if reading.statement is one.statement:
                continue
            name = f"line {reading.statement.lineno} one place earlier"
            base = lab.rewritten(Arm(name, "audit", WATCH), steps, [_earlier(one, reading)])
            both = [_changed(one), _earlier(one, reading)]
            moved = lab.rewritten(
                Arm(f"{name}, one value of {one.name} changed", "audit", WATCH), steps, both
            )
            again, left = _differ(base, moved, number)
            if again and not left:
                return Shown(one, reading, rows, columns)
    return None


def _number(plain: Ran) -> int | None:
    """Which of the kept comparisons is the one whose targets are a sum of columns."""
    one, kept = fitted(plain), plain.facts.get("samples") or []
    return next((i for i, s in enumerate(kept) if one is not None and s["site"] == one["site"]), None)


def _differ(plain: Ran, other: Ran, number: int) -> tuple[int, tuple[int, ...]]:
    """How many samples have another target, and the columns that differ in all of these."""
    first, second = (r.facts.get("samples") or [] for r in (plain, other))
    if number >= min(len(first), len(second)) or len(first[number]["y"]) != len(second[number]["y"]):
        return 0, ()
    one, two = first[number], second[number]
    rows = [i for i, (a, b) in enumerate(zip(one["y"], two["y"], strict=True)) if abs(a - b) > SAME]
    # A change of one value that moves many targets was scaled: each row differs then.
    if not rows or len(rows) > len(one["y"]) // 10:
        return 0, ()
    columns = range(len(one["x"][0]))
    return len(rows), tuple(
        c for c in columns if any(abs(one["x"][i][c] - two["x"][i][c]) > SAME for i in rows)
    )


def _changed(one: Series) -> Facts:
    """One value in the middle of the series is another one."""
    line = f"import copy\n{one.name} = copy.deepcopy({one.name})\n{one.name}[len({one.name}) // 2] += 1.0"
    own = one.module.segment(one.statement)
    text = f"{line}\n{own}" if one.before else f"{own}\n{line}"
    (changes,) = statements_of([Rewrite(one.module, one.statement, text)])
    return changes


def _earlier(one: Series, reading: Reading) -> Facts:
    text = changed(one.module, reading.statement, (reading.index, reading.earlier))
    (moves,) = statements_of([Rewrite(one.module, reading.statement, text)])
    return moves
