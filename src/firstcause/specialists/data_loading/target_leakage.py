"""target-leakage: a column of the input is the target, or a position sees what it is compared with.

Values that a loss asks for at selected places alone may stand there on purpose, as where a rating model gives back what it
knows. That the program makes a version of the input without them, which nothing uses, is what contradicts it.
"""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.source import find_module_construction
from firstcause.source.leaks import leak
from firstcause.source.lost import is_lost
from firstcause.specialists import audits, own_values, shifts
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "target-leakage"
# Words of a program that continues texts token by token, and of one that fills gaps from both sides.
NEXT = r"next|generat|causal|autoregress|forecast|lm\b|_lm|lm_|language|continu"
# Fewer values that were compared, or fewer different ones, may agree by chance.
LEAST_COMPARED, LEAST_VALUES = 40, 4
BOTH_SIDES = r"masked|mlm|bidirect|bert|cloze|infill|denois|auto.?encod"


def seen(found: Ran, examination: Examination) -> str | None:
    one = _first(found, examination)
    return _TOLD[one[0]](one[1]) if one is not None else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and _first(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    first = _first(found, examination) if found is not None else None
    if found is None or first is None:
        return inconclusive(CAUSE, "an input that holds the target")
    kind, one = first
    if kind == "own":
        return _settled_own(found, examination)
    site, ends = _site(examination, kind, one), f"; the loss ends at {end(found):.4g}"
    if kind == "column":
        ends = f"; the program puts it there at {site}"
    elif kind == "later":
        ends = f", by {_attention(one)['function']} at {site}{ends}"
    values = {k: one[k] for k in _VALUES[kind]}
    if kind == "later":
        values["share_of_next"] = one["shares"]["1"]
    text = f"{_TOLD[kind](one)}{ends}"
    evidence = Evidence("experiment" if kind == "ahead" else "observation", True, text, values, site)
    return confirmed(CAUSE, site, evidence)


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    first = _first(found, examination) if found is not None else None
    if first is None:
        return {}
    kind, one = first
    if kind == "ahead":
        site = _site(examination, kind, one)
        return {"file": site.file, "line": site.line} if site is not None else {}
    if kind == "left":
        place = _place_left(one)
        return examination.place(place) | {"hidden_by": one["name"]} if place is not None else {}
    if kind == "column":
        return {"column": True}
    if kind == "later":
        attention = _attention(one)
        return examination.place(attention["site"]) | {"function": attention["function"]}
    shown = own_values.shown(examination)
    return own_values.place(shown) if shown is not None else {}


def _first(found: Ran, examination: Examination) -> tuple[str, Facts] | None:
    """The first way in which an input is seen to hold the target, and what was seen of it."""
    looks = (("ahead", _ahead), ("left", _left), ("column", _column), ("later", _later), ("own", _own))
    return next(((kind, one) for kind, look in looks if (one := look(found, examination)) is not None), None)


def _site(examination: Examination, kind: str, one: Facts) -> Site | None:
    if kind == "ahead":
        return _built(examination, one)
    if kind == "column":
        return _leaking(examination)
    return examination.site(_place_left(one) if kind == "left" else _attention(one)["site"])


def _ahead(found: Ran, examination: Examination) -> Facts | None:
    """The part that looks ahead, in a program that speaks of what comes next and of no gaps that are filled from both sides."""
    one: Facts | None = found.facts.get("ahead")
    if not one:
        return None
    meant = shifts.says(examination, BOTH_SIDES) or not shifts.says(examination, NEXT)
    return None if meant else one


def _told_ahead(one: Facts) -> str:
    return (
        f"each target is the next value of the {one['length']} that the model is given, and with the last of them changed, "
        f"{one['class']} gives out other values up to {one['earlier']} places earlier, by {one['path']}, a {one['kind']}: what "
        "it is to predict, it sees"
    )


def _left(found: Ran, examination: Examination) -> Facts | None:
    """Values that a call was to hide and that stand in the input, where enough of them were compared.

    A version without them that the program uses for something else was made for that.
    """
    one: Facts | None = found.facts.get("left")
    if one is None or one["compared"] < LEAST_COMPARED or one["values"] < LEAST_VALUES:
        return None
    project, place = examination.project, one["site"]
    module = project.module(place["file"]) if project is not None and place is not None else None
    return one if module is not None and is_lost(module, place["line"], one["name"]) else None


def _told_left(one: Facts) -> str:
    text = (one["site"] or {}).get("text") or one["name"]
    lost = "the program does not keep" if one["dropped"] else "no model is given"
    return (
        f"all of {one['compared']} values that the model is to find, at {one['selected']:.0%} of the places, stand in its input "
        f"at these places, and it sees them there: {one['name']} makes the input without them, which {lost} (`{text}`)"
    )


def _place_left(one: Facts) -> Facts | None:
    """The call whose result is lost; the line that gives the model something else where it is kept."""
    place: Facts | None = one["site"] if one["dropped"] else one["model"] or one["site"]
    return place


def _built(examination: Examination, one: Facts) -> Site | None:
    """Where the part that looks ahead is built; the loss where that is not in the program."""
    project = examination.project
    found = find_module_construction(project, one["class"], one["path"]) if project is not None else []
    return found[0].site if len(found) == 1 else examination.site(one["site"])


def _leaking(examination: Examination) -> Site | None:
    place = leak(examination.project) if examination.project is not None else None
    return place.module.site(place.node) if place is not None else None


def _column(found: Ran, examination: Examination) -> Facts | None:
    """A column that is the target, where the program's own text shows how it gets there: a task may be that easy."""
    of: list[Facts] = found.facts.get("told") or []
    return of[0] if of and _leaking(examination) is not None else None


def _later(found: Ran, examination: Examination) -> Facts | None:
    """A loss whose targets are the next tokens, and whose rows see those after their own place."""
    for one in shifts.of(found):
        ahead = all(
            int(last) > int(row) for row, last in one["last_seen"].items() if int(row) < one["length"] - 1
        )
        if one["distance"] == 1 and not one["causal"] and ahead and one["attention"]:
            meant = shifts.says(examination, BOTH_SIDES) or not shifts.says(examination, NEXT)
            return None if meant else one
    return None


def _own(found: Ran, examination: Examination) -> Facts | None:
    """Targets that are a sum of columns, in a program that forecasts a series and makes rows and targets of it."""
    meant = shifts.says(examination, BOTH_SIDES) or not shifts.says(examination, NEXT)
    one = own_values.fitted(found)
    return one if one is not None and not meant and own_values.candidates(examination) else None


def _settled_own(found: Ran, examination: Examination) -> Hypothesis:
    """Whether a row changes with the one value that it is to predict, and no more once it is read one place earlier."""
    one, shown = own_values.fitted(found), own_values.shown(examination)
    assert one is not None
    if shown is None:
        return inconclusive(
            CAUSE, f"{_told_own(one)}; a row that changes with the value that it is to predict"
        )
    site = shown.series.module.site(shown.reading.statement)
    text = (
        f"{_told_own(one)}; with one value of {shown.series.name} changed, the rows whose target it is change with it, in "
        f"{len(shown.columns)} of {one['columns']} columns, and no more once {site} reads one place earlier"
    )
    values = {
        "columns": list(shown.columns),
        "rows": shown.rows,
        "left": one["left"],
        "samples": one["samples"],
    }
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _told_own(one: Facts) -> str:
    return (
        f"the targets are a sum of the {one['columns']} columns that the model is given, to {one['left']:.1g} of their spread "
        f"in {one['samples']} samples"
    )


def _attention(one: Facts) -> Facts:
    found: Facts = one["attention"][0]
    return found


def _told(one: Facts) -> str:
    how = (
        "equals the target"
        if one["equal"]
        else f"goes with the target at a correlation of {one['correlation']:.5f}"
    )
    return f"column {one['column']} of the {one['columns']} that the model is given {how} in all of {one['samples']} samples"


def _told_later(one: Facts) -> str:
    row, last = next((r, n) for r, n in one["last_seen"].items())
    return (
        f"each of {one['compared']} targets is the token after its row's place, and rows see it: row {row} is reached from "
        f"token {last} of {one['length']}"
    )


_TOLD = {"ahead": _told_ahead, "left": _told_left, "column": _told, "later": _told_later, "own": _told_own}
_VALUES = {
    "ahead": ("path", "kind", "earlier", "length"),
    "left": ("compared", "selected", "name", "dropped"),
    "column": ("column", "columns", "samples", "correlation"),
    "later": ("compared", "last_seen"),
}
