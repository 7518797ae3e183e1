"""Each instruction against the facts of its key: a match, a deviation, or nothing where the code does not say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from firstcause.check.compliance.agree import agrees
from firstcause.check.compliance.contradictions import contradiction
from firstcause.check.compliance.table import names
from firstcause.check.facts.devices import on_every_device
from firstcause.check.facts.fact import EVAL_BATCH, Fact
from firstcause.check.facts.precision import COMPUTE
from firstcause.check.orders_of_rows import BY_TIME, RANDOM
from firstcause.schema.finding import Category, Finding
from firstcause.schema.instruction import Instruction

# Keys under which the same thing may stand in the code.
ALSO = {
    "output_dir": ("output_path",),
    "output_path": ("output_dir",),
    "dataset": ("input_path",),
    "input_path": ("dataset",),
    "max_length": ("max_model_len",),
    "max_model_len": ("max_length",),
    "warmup": ("warmup_ratio", "warmup_steps"),
    "warmup_steps": ("warmup_ratio",),
    "warmup_ratio": ("warmup_steps",),
}

# Where the code sets one of them, it trains.
_OF_TRAINING = frozenset({"epochs", "learning_rate", "max_steps", "optimizer"})
# What DeepSpeed's file and the training arguments both say.
SAID_TWICE = frozenset({"max_grad_norm", "learning_rate", "weight_decay"})
# What can drive a run; other libraries that a brief names are looked for in the imports.
DRIVERS = frozenset(
    {
        "trainer",
        "trl",
        "lightning",
        "accelerate",
        "vllm",
        "sglang",
        "custom_loop",
        "pytorch",
        "deepspeed",
        "transformers",
    }
)
# Keys of which one of several values that were named is enough.
ANY = frozenset({"framework", "method", "gpu", "task", "input_path", "dataset", "output_dir", "output_path"})


@dataclass(frozen=True)
class Compared:
    """What came of the comparison: findings, and the keys that are as asked."""

    findings: tuple[Finding, ...]
    matches: tuple[str, ...]


def compare(instructions: Sequence[Instruction], facts: Sequence[Fact]) -> Compared:
    """Deviations and matches of the active instructions; what only "may" be contradicts nothing."""
    active = [i for i in instructions if i.status == "active" and i.strength != "may"]
    findings, matches = _of_evaluation([i for i in active if _is_of_evaluation(i)], facts)
    active = [i for i in active if not _is_of_evaluation(i)]
    facts = _at_their_use(active, facts)
    for key in dict.fromkeys(i.key for i in active):
        asked = [i for i in active if i.key == key]
        known = _known(key, facts)
        if key == "data_split":
            # How many rows and which ones are told apart: where the code says nothing of one, the other is compared.
            asked = [
                i for i in asked if any(_is_order(f.value) == _is_order(i.value) for f in known)
            ] or asked
        parts = facts
        if key == "batch_size" and _accumulates_nothing(active):
            # "256 per step, no accumulation": a product of smaller ones is not that.
            parts = [f for f in facts if f.key != "gradient_accumulation"]
        if key == "effective_batch_size" and all(f.confirms for f in known):
            # What the parts amount to says more than a name.
            found, met = _of_product(asked, active, facts)
            findings += found
            matches += [key] if met or (known and not found) else []
            continue
        if _all_follow(key, asked, known, parts) and (known or _derived(asked[0], parts)):
            refused = _refused(key, asked, known)
            findings += refused
            matches += [] if refused else [key]
            if key == "split_by" and not refused:
                matches.append("data_split")
            if key == "dataset" and not refused and any(_is_read_path(i, known) for i in asked):
                # The files that are read are the data.
                matches.append("input_path")
            if key == "batch_size" and any(_is_only_product(i, known) for i in asked):
                # A batch of N reached by accumulation is the effective one.
                matches.append("effective_batch_size")
            continue
        if key == "gradient_accumulation" and all(i.derived for i in asked) and _total_is_met(active, facts):
            # It follows from a number of devices that is told by itself.
            continue
        open_question = contradiction(asked, known)
        if open_question is not None:
            findings.append(open_question)
            matches.append(key)
            continue
        findings += _deviations(key, asked, known, parts)
    matches = list(dict.fromkeys(matches))
    for one in instructions:
        # What may be and is.
        allowed = one.status == "active" and one.strength == "may" and one.key not in {i.key for i in active}
        if allowed and one.key not in matches and any(agrees(one, f.value) for f in _known(one.key, facts)):
            matches.append(one.key)
    return Compared(tuple(_each_once(findings)), tuple(matches))


def _is_of_evaluation(instruction: Instruction) -> bool:
    return instruction.key == "batch_size" and instruction.scope == "eval"


def _of_evaluation(asked: Sequence[Instruction], facts: Sequence[Fact]) -> tuple[list[Finding], list[str]]:
    """The batch of the evaluation, which is not that of the training."""
    every = [f for f in facts if f.key in (EVAL_BATCH, "batch_size")]
    # Where nothing is trained, what is evaluated has the one batch that there is.
    trains = any(f.key in _OF_TRAINING for f in facts)
    known = [f for f in every if f.key == EVAL_BATCH or not trains]
    if asked and all(any(agrees(i, f.value) for f in every) for i in asked):
        return [], ["batch_size"]
    return list(_deviations("batch_size", asked, known, facts)), []


def _accumulates_nothing(active: Sequence[Instruction]) -> bool:
    """Whether accumulation is ruled out in so many words."""
    own = [i for i in active if i.key == "gradient_accumulation" and not i.derived]
    return any(i.polarity == "forbid" or (i.relation == "eq" and i.value == 1) for i in own)


def _at_their_use(active: Sequence[Instruction], facts: Sequence[Fact]) -> list[Fact]:
    """Facts whose value stands where another key's is as asked: what is wrong is not the value but who takes it."""
    right = {
        f.site
        for i in active
        for f in facts
        if f.use and (f.key, i.key) in {(i.key, i.key), ("batch_size", "effective_batch_size")}
        if agrees(i, f.value)
    }
    return [
        replace(f, site=f.use)
        if f.use is not None and f.site in right and not _OF_ONE.search(f.site.text)
        else f
        for f in facts
    ]


# Of a file: "train.jsonl".
_ENDING = re.compile(r"\.[a-z][a-z0-9]{1,8}$")
# A name that says whose value it is: there it is wrong itself.
_OF_ONE = re.compile(r"per_?(gpu|device|card|rank|worker|process)|local_|micro_", re.IGNORECASE)


def _refused(key: str, asked: Sequence[Instruction], known: Sequence[Fact]) -> list[Finding]:
    """An engine's file that says another value than the code does: the library refuses the two, or takes the file's."""
    return [
        _finding(key, i, f, f.value)
        for i in asked
        if i.polarity == "require" and i.relation == "eq"
        for f in known
        if _stands_alone(key, f) and not agrees(i, f.value)
    ][:1]


def _stands_alone(key: str, fact: Fact) -> bool:
    """Whether a value holds whatever another one of its key says: an engine's, or that of a quantised layer's products."""
    of_engine = key in SAID_TWICE and fact.how.startswith("deepspeed's ")
    return of_engine or (key == "precision" and fact.argument == COMPUTE)


def _total_is_met(active: Sequence[Instruction], facts: Sequence[Fact]) -> bool:
    product = effective(facts)
    totals = [i for i in active if i.key == "effective_batch_size" and not i.derived]
    return product is not None and bool(totals) and all(agrees(i, product) for i in totals)


def _is_read_path(instruction: Instruction, known: Sequence[Fact]) -> bool:
    """Whether a data set that was asked for is a file or a folder of the user's own, and no name of the hub."""
    value = str(instruction.value)
    named = any(f.how == "load_dataset" and agrees(instruction, f.value) for f in known)
    return instruction.polarity == "require" and not named and ("/" in value or bool(_ENDING.search(value)))


def _is_only_product(instruction: Instruction, known: Sequence[Fact]) -> bool:
    return (
        instruction.polarity == "require"
        and instruction.scope != "per_device"
        and not any(agrees(instruction, f.value) for f in known)
    )


def _of_product(
    asked: Sequence[Instruction], active: Sequence[Instruction], facts: Sequence[Fact]
) -> tuple[list[Finding], bool]:
    """A total batch that the product misses, at what to change; or that it meets on the devices that are asked for."""
    product = effective(facts)
    devices = {i.value for i in active if i.key == "num_gpus" and i.polarity == "require" and i.scope == ""}
    there = {f.value for f in facts if f.key == "num_gpus"}
    if product is None or (there and devices and not there <= devices):
        # How many devices there are is told by itself.
        return [], False
    if not there and len(devices) == 1 and on_every_device(facts):
        (count,) = devices
        product *= count if isinstance(count, int) and count > 1 else 1
    broken = next((i for i in asked if not agrees(i, product)), None)
    if broken is None:
        return [], True
    parts = [f for f in facts if f.key in ("gradient_accumulation", "batch_size")]
    if broken.derived or not all(f.sure for f in parts):
        return [], False
    fact = min(parts, key=lambda f: f.key != "gradient_accumulation")
    return [_finding("effective_batch_size", broken, fact, product)], False


def _each_once(findings: Sequence[Finding]) -> list[Finding]:
    """A batch that is too large or too small is told once: by its size, by the total, or by the accumulation."""
    keys = {f.key for f in findings}
    dropped = {"effective_batch_size"} if "batch_size" in keys else set()
    if "effective_batch_size" in keys - dropped:
        dropped.add("gradient_accumulation")
    return [f for f in findings if f.key not in dropped]


def _all_follow(key: str, asked: Sequence[Instruction], known: Sequence[Fact], facts: Sequence[Fact]) -> bool:
    """Every instruction of a key; of several frameworks that were named, one: "the Trainer or TRL"."""
    wanted = [i for i in asked if i.polarity == "require"]
    unwanted = [i for i in asked if i.polarity == "forbid"]
    enough = any if key in ANY else all
    return (not wanted or enough(_follows(i, known, facts) for i in wanted)) and all(
        _follows(i, known, facts) for i in unwanted
    )


def _known(key: str, facts: Sequence[Fact]) -> list[Fact]:
    own = [f for f in facts if f.key == key]
    return own or [f for f in facts if f.key in ALSO.get(key, ())]


def _follows(instruction: Instruction, known: Sequence[Fact], facts: Sequence[Fact]) -> bool:
    if instruction.polarity == "forbid":
        return all(agrees(instruction, f.value) for f in known)
    also = [f for f in facts if f.key in ALSO.get(instruction.key, ())]
    return any(agrees(instruction, f.value) for f in [*known, *also]) or _derived(instruction, facts)


def _derived(instruction: Instruction, facts: Sequence[Fact]) -> bool:
    """What follows by arithmetic: a batch per step times accumulation times devices."""
    if instruction.key not in ("batch_size", "effective_batch_size") or instruction.scope == "per_device":
        return False
    product = effective(facts)
    return product is not None and agrees(instruction, product)


def effective(facts: Sequence[Fact]) -> int | None:
    """Samples per update: per device, times accumulation, times devices where the code says how many."""
    size = _only(facts, "batch_size")
    parts = {f.value for f in facts if f.key == "gradient_accumulation"}
    unknown = any(f.value is None for f in facts if f.key in ("gradient_accumulation", "batch_size"))
    if size is None or len(parts) > 1 or unknown:
        return None
    return size * (_only(facts, "gradient_accumulation") or 1) * (_only(facts, "num_gpus") or 1)


def _only(facts: Sequence[Fact], key: str) -> int | None:
    values = {f.value for f in facts if f.key == key and isinstance(f.value, int)}
    return values.pop() if len(values) == 1 else None


def _deviations(
    key: str, asked: Sequence[Instruction], known: Sequence[Fact], facts: Sequence[Fact]
) -> Iterator[Finding]:
    broken = next((i for i in asked if not _follows(i, known, facts)), None)
    if key == "data_split" and broken is not None:
        known = [f for f in known if _is_order(f.value) == _is_order(broken.value)]
    against = [f for f in known if not f.confirms and (broken is None or not agrees(broken, f.value))]
    # What the code fixes says more than what an option leaves open.
    surest = min(against, key=lambda f: not f.sure, default=None)
    if (
        broken is None
        or surest is None
        or key not in names().deviation
        or (key == "framework" and str(broken.value) not in DRIVERS)
    ):
        return
    yield _finding(key, broken, surest, surest.value)


def _is_order(value: object) -> bool:
    return value in (BY_TIME, RANDOM)


def _finding(key: str, broken: Instruction, fact: Fact, got: object) -> Finding:
    wanted = (
        f"no {broken.value}" if broken.polarity == "forbid" else f"{_RELATION[broken.relation]}{broken.value}"
    )
    text = (
        f"{key} is {_shown(got)} here ({fact.how}); asked for: {wanted} (“{broken.sentence.strip()[:120]}”)"
    )
    if not fact.sure:
        text += "; that is a default: a command line may say otherwise, none here does"
    if fact.reason:
        text += f"; the code says why: {fact.reason[:120]}"
    category: Category = "critical" if key in names().critical else "deviation"
    if broken.strength == "should":
        category = "suggestion"
    return Finding(
        names().deviation[key],
        category,
        fact.site,
        text,
        _shown(broken.value),
        _shown(got),
        key,
        fact.argument,
        bool(fact.reason),
    )


_RELATION = {"eq": "", "max": "at most ", "min": "at least ", "approx": "around "}


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
