"""Which of several wishes for one key holds: the later message, and the correction within a message."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.conversation import Heard
from firstcause.check.brief.vocabulary import Vocabulary

# Of these a program has one; of others (frameworks, data sets, cards) it may have several.
_ONE_VALUED = frozenset({"whole", "rate", "share", "number", "tokens"})
_ONE = frozenset(
    {
        "optimizer",
        "scheduler",
        "precision",
        "model",
        "output_dir",
        "method",
        "loss",
        "eval_strategy",
        "save_strategy",
        "metric_for_best",
        "lora_target_modules",
        "adam_betas",
        "quantization",
        "structured_output",
        "attn_implementation",
        "freeze",
    }
)
# Nobody says a value more often; what says so is no brief.
_RIVALS = 100
_KIND_OF_TRAINING = frozenset({"from_scratch", "continued_pretraining"})


def settle_order(heard: Sequence[Heard], known: Vocabulary) -> list[Heard]:
    """The wishes in order, without repetitions; those that a later one replaces are marked superseded."""
    kept: list[Heard] = []
    by_group: dict[str, list[Heard]] = {}
    for new in heard:
        group = by_group.setdefault(_group(new.reading.key, known), [])
        rivals = group[-_RIVALS:]
        if any(_same(old, new) for old in rivals):
            if new.reading.corrects and new.reading.status == "active":
                # What is said again as a correction replaces what stood beside it.
                _supersede(new, [old for old in rivals if not _same(old, new)], known)
            continue
        if new.reading.status == "active":
            _supersede(new, rivals, known)
        elif earlier := [
            o for o in rivals if (o.reading.key, o.reading.value) == (new.reading.key, new.reading.value)
        ]:
            # "6 epochs instead of 3": where 3 was asked for before, that is the one.
            for old in earlier:
                old.reading.status = "superseded"
            continue
        kept.append(new)
        group.append(new)
    return _without_trainer_of_lightning(kept)


def _supersede(new: Heard, rivals: Sequence[Heard], known: Vocabulary) -> None:
    for old in rivals:
        if old.reading.status == "active" and _replaces(new, old, known):
            old.reading.status = "superseded"
            if new.turn > old.turn and (new.reading.strength, old.reading.strength) == ("should", "must"):
                # "Every 500 is enough", where 250 was asked for: it is what is wanted now.
                new.reading.strength = "must"


def _without_trainer_of_lightning(heard: list[Heard]) -> list[Heard]:
    """Lightning has a Trainer of its own; beside it the bare word means that one."""
    wanted = {
        h.reading.value for h in heard if h.reading.key == "framework" and h.reading.polarity == "require"
    }
    if not {"lightning", "trainer"} <= {str(value) for value in wanted}:
        return heard
    return [h for h in heard if (h.reading.key, h.reading.value) != ("framework", "trainer")]


def _same(old: Heard, new: Heard) -> bool:
    a, b = old.reading, new.reading
    return (a.key, a.value, a.relation, a.polarity, a.status) == (
        b.key,
        b.value,
        b.relation,
        b.polarity,
        b.status,
    ) and (a.scope == b.scope or not b.scope)


def _group(key: str, known: Vocabulary) -> str:
    return known.keys[key].group or key if key in known.keys else key


def _replaces(new: Heard, old: Heard, known: Vocabulary) -> bool:
    a, b = new.reading, old.reading
    if _group(a.key, known) != _group(b.key, known):
        return False
    later = new.turn > old.turn or (b.accepted and not a.accepted)
    if a.polarity == "forbid":
        return (
            b.polarity == "require"
            and (a.value in (b.value, "none"))
            and (later or a.corrects or new.sentence != old.sentence)
        )
    if b.polarity == "forbid":
        return (later or a.corrects) and b.value in (a.value, "none") and new.sentence != old.sentence
    if not later and (not a.corrects or (new.sentence == old.sentence and b.last >= a.first)):
        return False
    one = known.keys[a.key].kind in _ONE_VALUED or a.key in _ONE
    if not one or (a.scope and b.scope and a.scope != b.scope):
        return False
    if a.key == "method" and (a.value in _KIND_OF_TRAINING) != (b.value in _KIND_OF_TRAINING):
        return False
    if {a.relation, b.relation} == {"min", "max"}:
        return False
    return bool(a.value != b.value or a.key != b.key or a.relation != b.relation)
