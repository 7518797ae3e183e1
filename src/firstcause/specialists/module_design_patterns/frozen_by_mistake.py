"""frozen-by-mistake: parameters are switched off against what the program itself does with them.

That training more parameters lowers the loss is true of every frozen part; so a gain proves nothing alone. It counts
where something contradicts the freezing, as ``_mistake`` names it: the values are random beside others that were put
there, an optimizer is made larger by what is off, an optimizer has nothing left to train, a module was told to train and
was not, what was trained is switched off where the program only evaluates, most of a model stays as it began through two
stages of training in a program that loads no weights, they are copies of what was switched off in another model, what
was to switch them on matches no name, or torch's default froze what the program means to train (``specialists/by_default``).
"""

from __future__ import annotations

import re

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.source.copies import unfrozen_copies
from firstcause.source.switches import switches, texts_of_thaws, thaws_by_name
from firstcause.specialists import by_default, gains, left_out
from firstcause.specialists.audits import audit
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "frozen-by-mistake"
# A part that trained for longer may have been switched off on purpose.
SHORT, LEAST_STEPS = 0.2, 10
# So many times as many parameters are off as are on: most of the model. And what puts values into one.
MOST = 2
LOADS = re.compile(
    r"from_pretrained|\bload_?\w*\(|pretrained|[Ww]eights\b\s*[=.]|_Weights\b|create_model|SentenceTransformer|from_numpy|"
    r"\.data(\[.*\])?\s*=|copy_\(|\.set_\(|nn\.Parameter\(|resnet\d+\(True"
)
# A copy that is to stay as it is, in the program's own words.
KEPT_COPY = re.compile(
    r"linear.?prob|\bprobes?\b|probing|\b(stay|kept|keep|remain)\w*\W+(\w+\W+)?(frozen|fixed)|"
    r"\b(frozen|fixed)\W+(feature|extractor|copy|copies|student|encoder|backbone|trunk|body|stage|layer)",
    re.IGNORECASE,
)
# Features that are random on purpose.
RANDOM = re.compile(
    r"random.(feature|project|fourier|kitchen|conv|encoder|net)|random_proj|fixed|echo.?state|\besn\b|\belm\b",
    re.IGNORECASE,
)


def seen(found: Ran, examination: Examination) -> str | None:
    one = _mistake(found, examination)
    return _told(found, one) if one else None


def _mistake(found: Ran, examination: Examination) -> Facts:
    """Why some parameters are off against the program's own intent, and which; empty where nothing says so."""
    frozen: list[Facts] = found.facts.get("frozen") or []
    total = int(found.facts.get("steps_seen") or 0)
    if not frozen or total < LEAST_STEPS or examination.project is None:
        return {}
    early = [p for p in frozen if p["last_on"] is not None and p["last_on"] <= SHORT * total]
    reasons = {
        "said-on": [p for p in frozen if p["said_on"]],
        "idle": [p for p in early if p["idle"]],
        "added": [p for p in frozen if p["added"]],
        # Before those that ask for values as they began: a copy has no writes to count.
        "copied": _copied(examination, found, frozen),
        "alone": [p for p in frozen if p["alone"] and p["last_on"] is None and p["values"] == "fresh"],
        "mixed": _beside_kept(found, frozen),
        "evaluated": early if _evaluating(examination) else [],
        "overrun": _overrun(examination, frozen),
        "unmatched": _unmatched(examination, found, frozen),
        "staged": _never_loaded(examination, found, frozen),
    }
    reason = next((r for r, some in reasons.items() if some), None)
    how, wrong = by_default.off(found, examination.project)
    # Where the default did it, its line is the one to change, whatever else shows it.
    reason = "by-default" if wrong and (reason in (None, "alone", "mixed")) else reason
    if reason is None:
        return {}
    wrong = wrong if reason == "by-default" else reasons[reason]
    return {"reason": reason, "how": how, "wrong": wrong, "right": [p for p in frozen if p not in wrong]}


def _beside_kept(found: Ran, frozen: list[Facts]) -> list[Facts]:
    """Modules that are still random in a model of which other frozen modules hold values that were put there."""
    trained = {root for root, _ in found.facts.get("on") or []}
    kept = {p["root"] for p in frozen if p["values"] == "kept"} & trained
    fresh = {(p["root"], _owner(p)) for p in frozen if p["values"] == "fresh" and p["root"] in kept}
    held = {(p["root"], _owner(p)) for p in frozen if p["values"] == "kept"}
    return [p for p in frozen if (p["root"], _owner(p)) in fresh - held and p["last_on"] is None]


def _never_loaded(examination: Examination, found: Ran, frozen: list[Facts]) -> list[Facts]:
    """Most of a model, off from the first step of one stage to the last step of another, where nothing was put into it."""
    project = examination.project
    if project is None or int(found.facts.get("stages") or 0) < 2:
        return []
    texts = [m.text for m in project.modules]
    if left_out.is_meant(examination) or any(LOADS.search(t) or RANDOM.search(t) for t in texts):
        return []
    on: list[list[str]] = found.facts.get("on") or []
    off = [p for p in frozen if p["last_on"] is None]
    # A library's own initialisation looks like values that were put there, of a few parameters.
    if 2 * sum(p["elements"] for p in off if p["values"] == "kept") > sum(p["elements"] for p in off):
        return []
    roots = {root for root, _ in on}
    return [
        p
        for p in off
        if p["root"] in roots
        and sum(q["root"] == p["root"] for q in off) >= MOST * sum(root == p["root"] for root, _ in on)
    ]


def _copied(examination: Examination, found: Ran, frozen: list[Facts]) -> list[Facts]:
    """Deep copies of what was switched off in another model that runs at their steps, beside parts that are trained.

    A copy of a trunk that is taken over, and whose own model has done its work, is off because the trunk was to be.
    """
    project = examination.project
    if project is None or any(KEPT_COPY.search(m.text) for m in project.modules):
        return []
    # Where a copy is given to the new model's class, the part that it becomes has another name.
    parts = {c.part for c in unfrozen_copies(project)}
    trained = {root for root, _ in found.facts.get("on") or []}
    mine = [
        p
        for p in frozen
        if p["root"] in trained and ("" in parts or str(p["name"]).partition(".")[0] in parts)
    ]
    return [p for p in mine if p["beside"] and p["held"] and p["last_on"] is None]


def _owner(parameter: Facts) -> str:
    return str(parameter["name"]).rpartition(".")[0]


def _evaluating(examination: Examination) -> bool:
    project = examination.project
    return project is not None and any(s.on is False and s.looks_only for s in switches(project))


def _overrun(examination: Examination, frozen: list[Facts]) -> list[Facts]:
    """``layer1`` in a text of the program takes ``layer10`` as well; only where the one with that name is there too."""
    texts = _numbered(examination)
    for text in sorted(texts):
        exact = [p for p in frozen if re.search(rf"(^|\.){re.escape(text)}(\.|$)", p["name"])]
        over = [p for p in frozen if re.search(rf"(^|\.){re.escape(text)}\d", p["name"])]
        if exact and over:
            return over
    return []


def _unmatched(examination: Examination, found: Ran, frozen: list[Facts]) -> list[Facts]:
    """``startswith("layer1")`` switches on by names that begin with "encoder.layer1": no name of the model matches."""
    project = examination.project
    if project is None or not thaws_by_name(project):
        return []
    names = [str(p["name"]) for p in frozen] + [str(name) for _, name in found.facts.get("on") or []]
    texts = texts_of_thaws(project)
    if any(n.startswith(t) for t in texts for n in names):
        return []
    missed = [
        t for t in texts if not any(n.startswith(t) for n in names) and any(f".{t}." in n for n in names)
    ]
    return [p for p in frozen if any(f".{t}." in str(p["name"]) for t in missed)]


def _numbered(examination: Examination) -> set[str]:
    project = examination.project
    texts = "".join(m.text for m in project.modules) if project is not None else ""
    return set(re.findall(r"""["']([A-Za-z_][\w.]*\d)["']""", texts))


def _told(found: Ran, one: Facts) -> str:
    wrong, names = one["wrong"], [p["name"] for p in one["wrong"]]
    until = f"on until step {max(p['last_on'] or 0 for p in wrong)} of {found.facts['steps_seen']}"
    kept = next((p["name"] for p in one["right"] if p["values"] == "kept"), "others")
    how = {
        "said-on": "requires_grad = True was set on the module, where it is a plain attribute and switches nothing",
        "idle": f"{until}, and their optimizer steps on with nothing to train",
        "added": "in an optimizer that was made after another one and holds them besides what that one held",
        "alone": "all of a group of their optimizer, and random as they began",
        "mixed": f"random as they began, beside {kept}, whose values were put there",
        "evaluated": f"{until}, and switched off where the program only evaluates",
        "staged": f"off through {found.facts.get('stages')} stages of training, as they began: the program loads no weights",
        "by-default": by_default.told(one["how"]),
        "copied": "copies of what was switched off in another model, and an optimizer holds them to train",
        "unmatched": "the program switches parameters on whose names begin with a text, and none of the model's does: that text "
        "stands further in",
        "overrun": "a text of the program names another part, and their names go on with one more digit",
    }[one["reason"]]
    elements = sum(p["elements"] for p in wrong)
    return (
        f"{len(names)} parameters of {elements} elements have requires_grad False, {names[0]} of {wrong[0]['root']} the "
        f"first: {how}"
    )


def propose(examination: Examination) -> bool:
    found = audit(examination)
    return found is not None and seen(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audit(examination)
    one = _mistake(found, examination) if found is not None else {}
    if found is None or not one:
        return inconclusive(
            CAUSE, "a contradiction between what is switched off and what the program does with it"
        )
    names = [[p["root"], p["name"]] for p in one["wrong"]]
    told = _told(found, one)
    # The model that was copied from may be of the same class.
    settings = {"names": names} | ({"beside_trained": True} if one["reason"] == "copied" else {})
    arm = gains.changed(examination, Arm("the parameters that are off trained too", "train_frozen", settings))
    if arm is None or not arm.facts.get("trained"):
        return inconclusive(CAUSE, f"the same training with them switched on: {told}")
    text = f"{told}; switched on, {gains.ends(arm, found)}"
    values = {"reason": one["reason"], "names": [n for _, n in names], "elements": arm.facts["trained"]}
    # Two adversaries' losses go against each other: what shows there is the optimizer without anything to train.
    enough = one["reason"] != "by-default" or by_default.gained(one["how"], arm, found)
    if one["reason"] != "idle" and not (enough and gains.gained(arm, found)):
        return inconclusive(CAUSE, f"a gain: {text}")
    return confirmed(CAUSE, None, Evidence("counterfactual", True, text, values, None))


def facts(examination: Examination) -> Facts:
    found = audit(examination)
    one = _mistake(found, examination) if found is not None else {}
    if found is None or not one:
        return {}
    return {
        "reason": one["reason"],
        "wrong": [[p["root"], p["name"]] for p in one["wrong"]],
        "right": [p["name"] for p in one["right"]],
        "on": [name for _, name in found.facts.get("on") or []],
    }
