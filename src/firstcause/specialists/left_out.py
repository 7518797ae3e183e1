"""Parameters that get gradients and that no optimizer holds: which they are, and the training with them."""

from __future__ import annotations

import re

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

ALSO = Arm("the parameters left out trained too", "train_also")
# Parts that hold what was put there and are left so on purpose go by such names.
MEANT = re.compile(
    r"froz|freez|probe|teacher|target_net|pretrain|from_pretrained|load_state_dict|torch\.load|perceptual|reservoir|"
    r"random_feature|fixed_|critic|discrim|lora|adapter|ema_|momentum_enc|warm.?up_head",
    re.IGNORECASE,
)
# Random values that nobody trains are meant under these alone.
RANDOM = re.compile(r"reservoir|random_(feature|project|fourier)|fixed_", re.IGNORECASE)
# What is put beside a model that stays as it is, in order to be trained.
ADAPTER = re.compile(r"(^|[._])(lora|adapter)", re.IGNORECASE)
# A part that is kept out of the model on purpose.
HIDDEN = re.compile(r"froz|freez|teacher|perceptual|vgg|pretrain", re.IGNORECASE)


def missing(found: Ran) -> list[Facts]:
    """What no optimizer holds; empty where everything is held."""
    return list(found.facts.get("missing") or [])


def unregistered(found: Ran) -> list[Facts]:
    """Of these, those that run inside of a model and are no part of it."""
    return [p for p in missing(found) if p["container"] or p["inside"]]


def replaced(found: Ran) -> bool:
    """Whether the optimizer holds parameters that no module has any more, beside those that it lacks."""
    return bool(missing(found)) and bool(found.facts.get("of_no_module"))


def told(found: Ran) -> str:
    """How many of how many, and the first one's name."""
    count, trained = found.facts["missing_count"], found.facts["trained_count"]
    first = missing(found)[0]
    return (
        f"{count} of {count + trained} parameters that get gradients are held by no optimizer and never changed, "
        f"{first['name']} of {first['class']} the first"
    )


def left_on_purpose(found: Ran, examination: Examination) -> bool:
    """Whether what is left out may be meant to stay: all of it was put there, or the source names such a part."""
    held = {p.get("values") for p in missing(found)}
    if all(p.get("zero") and ADAPTER.search(p["name"]) for p in missing(found)):
        # Half of an adapter begins at zero. Where it is zero at the end nothing was loaded and nothing is adapted.
        return False
    return held == {"kept"} or is_meant(examination, names_of(found, MEANT))


def names_of(found: Ran, usual: re.Pattern[str]) -> re.Pattern[str]:
    """The names that excuse it; where some is as random as it began, other parts' names say nothing about it."""
    return RANDOM if any(p.get("values") == "fresh" for p in missing(found)) else usual


def is_meant(examination: Examination, names: re.Pattern[str] = MEANT) -> bool:
    """Whether the source names a part that is left as it is on purpose."""
    project = examination.project
    return project is None or any(names.search(module.text) for module in project.modules)


def settle(cause: str, examination: Examination, found: Ran, text: str) -> Hypothesis:
    """Confirmed where the training comes further once they are trained as well."""
    one = gains.changed(examination, ALSO)
    if one is None or not one.facts.get("added"):
        return inconclusive(cause, f"the same training with them in the optimizer: {text}")
    text = f"{text}; trained too, {gains.ends(one, found)}"
    values = {"missing": found.facts["missing_count"], "elements": one.facts["added"]}
    values |= {"names": [p["name"] for p in missing(found)]}
    if not gains.gained(one, found):
        return inconclusive(cause, f"a gain: {text}")
    return confirmed(cause, None, Evidence("counterfactual", True, text, values, None))
