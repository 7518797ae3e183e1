"""A training whose units cannot learn as they begin: which of the four ways it is, and the start from which they do."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.verdicts import confirmed, inconclusive

DEAD, SATURATED = "dead-relu-init", "saturated-activation"
INITIAL, VANISHING = "bad-initialisation", "vanishing-gradient"
WATCH = {"watch": ["units_at_start"]}
DEFAULT = Arm("layers as torch initialises them", "audit", WATCH | {"start": "default"})
SCALED = Arm("inputs at zero mean and unit spread", "audit", WATCH | {"start": "scaled"})
# Catalogue: more than half of the units.
SHARE, LEAST_UNITS = 0.5, 8
# Catalogue: activations that change by more than ten times in one layer; weights so far from what torch gives them.
CHANGE, SCALE = 10.0, 4.0
# Gradients of the first layer beside the last one's, in layers of at least this number.
VANISHED, DEPTH = 1e-3, 4
# A bias of so many times the spread of what it is added to decides alone what a layer gives.
BIAS = 5.0
# Inputs of this size are not at unit scale.
LARGE = 5.0
# The loss must come this much further: a start is a matter of luck as well.
GAIN = 0.1
# What is left of the broken share once it is mended.
MENDED = 0.5


def shown(found: Ran) -> tuple[str, Facts, str] | None:
    """The cause that the first steps speak for, the layer, and a sentence; a deeper one wins over its consequence."""
    units: list[Facts] = [u for u in found.facts.get("units") or [] if u["units"] >= LEAST_UNITS]
    weights: list[Facts] = found.facts.get("weights") or []
    for unit in units:
        if unit["kind"] == "relu" and min(unit["dead_first"], unit["dead"]) > SHARE:
            text = f"{unit['dead']:.0%} of {unit['units']} units give 0 for every sample of the first steps"
            return DEAD, unit, text
    own = [w for w in weights if not w.get("drawn_by_library")]
    inner = [w for w in own if w is not weights[-1]]
    for weight in inner:
        if weight["alike"] and weight.get("still_alike") and weight["rows"] >= LEAST_UNITS:
            text = f"the {weight['rows']} units of {weight['name']} begin with equal weights and stay equal"
            return INITIAL, weight, text
    for unit in units:
        if unit["kind"] != "relu" and unit["hidden"] and unit["beyond"] > SHARE:
            text = (
                f"{unit['beyond']:.0%} of the inputs of {unit['kind']} are beyond 4 in the first step, "
                f"{unit['size']:.3g} in size on the average"
            )
            return SATURATED, unit, text
    for weight in own:
        far = weight["ratio"] > SCALE or weight["ratio"] < 1 / SCALE
        if far and not 1 / CHANGE < weight["gain"] < CHANGE and weight["rows"] >= LEAST_UNITS:
            text = (
                f"{weight['name']} begins at {weight['ratio']:.3g} times the spread that torch gives it, "
                f"and its layer changes the spread of its input {weight['gain']:.3g} times"
            )
            return INITIAL, weight, text
    for weight in inner:
        if weight.get("bias", 0.0) > BIAS and weight["rows"] >= LEAST_UNITS:
            text = (
                f"the bias beside {weight['name']} begins at {weight['bias']:.3g} times the spread of what it is added to, the "
                "same for every sample"
            )
            return INITIAL, weight, text
    return _vanishing(weights, units)


def _vanishing(weights: list[Facts], units: list[Facts]) -> tuple[str, Facts, str] | None:
    sizes = [w["gradient"] for w in weights if w.get("gradient")]
    hidden = [u for u in units if u["kind"] != "relu" and u["hidden"]]
    if len(sizes) < DEPTH or not hidden or len(sizes) < len(weights):
        return None
    if sizes[0] > VANISHED * sizes[-1] or any(a > 3 * b for a, b in pairwise(sizes)):
        return None
    text = (
        f"the gradient of {weights[0]['name']} is {sizes[0] / sizes[-1]:.2g} times that of {weights[-1]['name']} "
        f"in the first step, behind {len(hidden)} {hidden[0]['kind']} layers"
    )
    return VANISHING, hidden[0], text


@dataclass(frozen=True)
class Start:
    """What a cause's module needs, for the one of the four that it is."""

    cause: str

    def seen(self, found: Ran, examination: Examination) -> str | None:
        first = shown(found)
        return first[2] if first is not None and first[0] == self.cause else None

    def propose(self, examination: Examination) -> bool:
        found = audits.audit(examination)
        return found is not None and self.seen(found, examination) is not None

    def settle(self, hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
        return settle(self.cause, examination)

    def facts(self, examination: Examination) -> Facts:
        return facts(self.cause, examination)


def better(cause: str, examination: Examination) -> tuple[str, Ran] | None:
    """The first other start from which the training comes further and the layer is mended: its kind and its course."""
    found = audits.audit(examination)
    first = shown(found) if found is not None else None
    if found is None or first is None:
        return None
    arms: list[tuple[str, Arm]] = []
    if found.facts.get("differing"):
        relu = any(u["kind"] == "relu" for u in found.facts["units"])
        fitting = Arm(
            f"layers as {'Kaiming' if relu else 'Glorot'} initialises them",
            "audit",
            WATCH | {"start": "fitting", "relu": relu},
        )
        arms += [("initial", DEFAULT), ("initial", fitting)]
    if (found.facts.get("inputs") or {}).get("size", 0.0) > LARGE:
        # Where both can be it, the inputs are asked first: default weights at huge inputs mend little.
        arms.insert(0, ("inputs", SCALED))
    if cause == VANISHING:
        hidden = [u["number"] for u in found.facts["units"] if u["hidden"] and u["kind"] != "relu"]
        arms.append(
            (
                "activation",
                Arm("relu between the layers", "audit", WATCH | {"start": "passing", "hidden": hidden}),
            )
        )
    for kind, arm in arms:
        one = gains.changed(examination, arm)
        if one is not None and _mended(cause, first[1], one) and _gained(one, found):
            return kind, one
    return None


def _gained(one: Ran, control: Ran) -> bool:
    if not gains.gained(one, control):
        return False
    return not control.finite or end(control) - end(one) > GAIN * abs(end(control))


def _mended(cause: str, layer: Facts, one: Ran) -> bool:
    units: list[Facts] = one.facts.get("units") or []
    same = next((u for u in units if u["number"] == layer.get("number")), {})
    if cause == DEAD:
        return bool(same) and same["dead"] < MENDED * layer["dead"]
    if cause == SATURATED:
        return bool(same) and same["beyond"] < MENDED * layer["beyond"]
    return True


def settle(cause: str, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    first = shown(found) if found is not None else None
    if found is None or first is None or first[0] != cause:
        return inconclusive(cause, "the first steps of the training, seen unit by unit")
    _, layer, text = first
    mended = examination.once(f"start {cause}", lambda: better(cause, examination))
    if mended is None:
        return inconclusive(cause, f"{text}; another start that comes further, and none of those tried does")
    kind, one = mended
    if cause == VANISHING and kind == "initial":
        return inconclusive(
            cause, f"{text}; it is the initial weights: with those of torch the training comes further"
        )
    site = examination.site(layer.get("site"))
    said = f"{text}; with {one.name} alone, {gains.ends(one, found)}"
    values = {k: v for k, v in layer.items() if k != "site"} | {
        "start": kind,
        "loss": end(found),
        "changed": end(one),
    }
    return confirmed(cause, site, Evidence("counterfactual", True, said, values, site))


def facts(cause: str, examination: Examination) -> Facts:
    found = audits.audit(examination)
    first = shown(found) if found is not None else None
    if found is None or first is None:
        return {}
    mended = examination.once(f"start {cause}", lambda: better(cause, examination))
    kind = mended[0] if mended is not None else ""
    layer = first[1]
    return examination.place(layer.get("site")) | {
        "start": kind,
        "activation": layer.get("kind", ""),
        "relu": any(u["kind"] == "relu" for u in found.facts["units"]),
        "scale": _scale(mended[1], examination) if mended is not None else None,
    }


def _scale(one: Ran, examination: Examination) -> Facts | None:
    scale: Facts | None = one.facts.get("scale")
    return scale | examination.place(scale.get("site")) if scale else None
