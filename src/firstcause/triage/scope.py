"""What is not ours, and who is better asked, with what to bring."""

from __future__ import annotations

from firstcause.catalog.wording import word_set
from firstcause.triage.words import Understood

HANDOVERS = {
    "jax": (
        "JAX: its own tools and documentation (jax.errors pages, jax.debug). Bring the whole traceback with"
        " JAX_TRACEBACK_FILTERING=off, the jitted function, and the shapes and dtypes of its arguments"
    ),
    "paper": (
        "a comparison of paper and code, equation by equation. Bring the paper's equation numbers, the lines that implement"
        " them, and both sets of hyperparameters"
    ),
    "hardware": (
        "advice on hardware. Bring what is to be trained (parameters, precision, batch, sequence length), the peak memory that"
        " a short run measures, and the budget"
    ),
    "other-framework": "the framework's own forum. Bring its whole traceback, its version, and the smallest model that fails",
    "other-library": "that library's documentation or forum. Bring the whole error, the version, and a few lines that show it",
    "theory": "a textbook or the method's paper. Bring the formula and the step of it that is unclear",
    "generic": "a general Python forum. Bring the whole traceback, the input that fails, and the versions",
    "other-language": "that language's documentation or forum. Bring the whole error, the version, and the lines that it names",
    "other": "somebody else: nothing in it is a failing PyTorch program",
}
# What somebody may ask for in a wish alone; another framework is often only compared with.
_WISHES = {"hardware": 6, "theory": 4, "paper": 3, "career": 3, "other-library": 3}
# From here on a wish is clear enough beside a claim that names a symptom.
PLAIN_WISH = 4
# Symptoms that programs without PyTorch have too.
_ANYWHERE = frozenset(
    {
        "slow-training",
        "nan-loss",
        "no-learning",
        "missing-file",
        "version-mismatch",
        "hang",
        "wrong-gradient",
    }
)
_OWN = word_set("my i we our mine mein meine mi mis mon ma meu minha 我 我的 私 мой моя")


def out_of_scope(understood: Understood, recognised: bool, raised: bool) -> tuple[str, str] | None:
    """The kind of question that is not ours and the reason; None for one that is.

    ``recognised`` says that a message of the catalogue or an exception of PyTorch's is in the text, ``raised`` that any is.
    """
    if recognised:
        return None
    symptom = understood.labels("pattern")
    groups = dict(understood.groups.get("scope", {}))
    told = ("pattern", "ambiguous", "lost", "about")
    complains = understood.says("calm", "vague") or understood.says("complaint", "plea")
    wishes = {
        label: row for label, row in understood.claimed_scope.items() if row[0] >= _WISHES.get(label, 99)
    }
    plain = not (understood.claimed and understood.told.observed) or any(
        total >= PLAIN_WISH for total, _ in wishes.values()
    )
    if plain and not any(understood.labels(group) for group in told) and not complains:
        # Nothing but a wish: "which laptop should I buy" asks for one, and is all that there is.
        groups = {**wishes, **groups}
    scope = {label: total for label, (total, _) in groups.items()}
    if scope.get("r-language", 0) >= 3:
        # Its packages carry the same names.
        return "other-library", f"the language is R ({_shown(understood, 'r-language')})"
    for label in ("jax", "other-framework"):
        if scope.get(label, 0) >= 3 and not understood.named:
            return label, f"another framework is named ({_shown(understood, label)}), PyTorch is not"
    if (
        scope.get("other-library", 0) >= 3
        and not understood.named
        and not _training(understood)
        and set(symptom) <= _ANYWHERE
    ):
        return (
            "other-library",
            f"another library is named ({_shown(understood, 'other-library')}), no training is",
        )
    if raised and not understood.named and not symptom and not _training(understood):
        return "generic", "the traceback has no frame of PyTorch, and no training is spoken of"
    if scope.get("theory", 0) >= 4 and not (symptom and _own(understood)):
        return "theory", f"an explanation is asked for ({_shown(understood, 'theory')})"
    if symptom:
        return None
    for label, name in (("hardware", "hardware"), ("paper", "paper"), ("career", "other")):
        if scope.get(label, 0) >= 3:
            return name, f"what is asked for is not a failure ({_shown(understood, label)})"
    return None


def _training(understood: Understood) -> bool:
    return understood.generic


def _own(understood: Understood) -> bool:
    return any(word in _OWN for clause in understood.told.observed for word in clause.words)


def _shown(understood: Understood, label: str) -> str:
    _, counted = understood.groups["scope"].get(label) or understood.claimed_scope[label]
    return "'" + " ".join(counted[0].text.split())[:60] + "'"
