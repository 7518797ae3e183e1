"""Values that are words: optimizers, schedules, precisions, methods, frameworks, switches."""

from __future__ import annotations

from itertools import pairwise

from firstcause.check.brief.learnt import answers_only
from firstcause.check.brief.namesakes import is_namesake
from firstcause.check.brief.plateaus import on_plateau
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.stacks import named_stack, names_library
from firstcause.check.brief.stepping import is_step_schedule
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

# Words that are names of tools only beside a word that takes a tool.
_COMMON_TOOLS = word_set("choices", "common_tools")
_TAKES_TOOL = word_set("choices", "takes_tool")
_HALVED = word_set("choices", "halved")
_SAMPLES = word_set("samples", "nouns")
_MADE_WITH_TOOL = word_set("choices", "made_with_tool")
# Parts that stay in full precision beside a training in less.
_KEPT = word_set("choices", "kept_in_full")
_WEIGHTS = frozenset(
    {"weights", "weight", "params", "parameters", "reduction", "reductions", "reduce", "gradients", "grads"}
)
# "The Lion dataset", "the LoRA paper".
_PUBLISHED = word_set("choices", "published")
_ARRAYS = word_set("choices", "arrays")
_ANY = word_set("choices", "any")
# What is cut in half is no precision.
_CUT = word_set("choices", "cut")
_OF_SCHEDULE = frozenset({"scheduler", "warmup", "warmup_steps", "warmup_ratio", "learning_rate"})
_NORMS = {"l1": "mae", "l2": "mse"}
_PENALISES = frozenset(
    {"regularisation", "regularization", "regulariser", "regularizer", "penalty", "reg", "weight", "cache"}
)
_IS_SAID = frozenset({"is", "be", "should", "must", "shall", "will", "function", ":", "=", "just", "plain"})
_INSTALLED = word_set("choices", "installed")
_MEASURES = word_set("choices", "measures")
_NOT_A_TASK = word_set("choices", "not_a_task")
_PLACES = {"cpu": frozenset({"cpu", "ram", "host"}), "disk": frozenset({"disk", "nvme", "ssd"})}


def choose(line: Line) -> None:
    """Claim words that are values of a key."""
    for at, token in enumerate(line.tokens):
        if token.entry is None or token.claimed:
            continue
        for key, value in token.entry.values:
            if key not in ("metric", "lora_target_modules") and _meant(line, at, key, value):
                _take(line, at, key, value)
        for key, value in token.entry.beside:
            if (key == "scheduler" and _beside_schedule(line, at)) or (
                key == "model_kind" and _kind_of_model(line, at)
            ):
                _take(line, at, key, value)
        named = token.entry.named
        if named is not None and named.key.kind == "switch" and not token.claimed:
            _take(line, at, named.key.name, _place_of(line, at) if named.key.name == "offload" else True)
    _minimised(line)
    _by_norm(line)
    on_plateau(line)
    _bare_full(line)
    answers_only(line)
    named_stack(line)
    _without_generic(line)


def _place_of(line: Line, at: int) -> object:
    """Where it is offloaded to, or True: "offload the optimizer states to NVMe"."""
    if any(t.has("not") or t.has("not_needed") for t in line.tokens):
        return True
    own = line.tokens[max(0, at - 1) : at + 7]
    words = words_in(t for t in own if t.segment == line.tokens[at].segment)
    return next((place for w in words for place, names in _PLACES.items() if w in names), True)


def _minimised(line: Line) -> None:
    """Claim the loss in "optimise the MAE" and "minimise the mean squared error"."""
    if any(r.key == "loss" for r in line.readings):
        return
    for at, token in enumerate(line.tokens):
        before = line.words(at - 2, at)
        if (
            token.entry is None
            or token.claimed
            or not any(w.startswith(("optimi", "minimi")) for w in before)
        ):
            continue
        value = next((v for k, v in token.entry.values if k == "metric" and v in ("mae", "rmse", "mse")), "")
        if value:
            line.claim(Reading("loss", {"rmse": "mse"}.get(value, value), at, at))
            return


def _by_norm(line: Line) -> None:
    """Claim a loss that is called by its norm: "loss function: L2", "L1 as the training loss"."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        loss = _NORMS.get(token.text)
        if loss is None or token.claimed or _PENALISES & set(line.words(at + 1, at + 3)):
            continue
        start = at
        while start and tokens[start - 1].text in _IS_SAID:
            start -= 1
        named = start > 0 and tokens[start - 1].text in ("loss", "loss is", "loss function")
        named = named and not _MEASURES & set(line.words(start - 4, start - 1))
        after = line.words(at + 1, at + 5)
        made = after[:1] == ["as"] and any(w.startswith("loss") for w in words_in(tokens[at + 2 : at + 5]))
        if named or made:
            line.claim(Reading("loss", loss, at, at))
            return


def _bare_full(line: Line) -> None:
    """Claim "full" where it stands alone: "No LoRA. Full."."""
    for at, token in enumerate(line.tokens):
        if (
            token.text == "full"
            and sum(t.segment == token.segment and t.kind != "break" for t in line.tokens) == 1
        ):
            line.claim(Reading("method", "full", at, at))


def _take(line: Line, at: int, key: str, value: object) -> None:
    if key in ("max_grad_norm", "num_gpus", "num_labels", "save_rank", "save_total_limit", "zero_stage"):
        value = int(str(value))
    if key == "seed":
        value = True
    if key == "do_sample":
        value = value == "true"
        if line.tokens[at].text.startswith(("greed", "argmax")):
            line.claim(Reading("temperature", 0, at, at))
    line.claim(Reading(key, value, at, at))


def _meant(line: Line, at: int, key: str, value: str) -> bool:
    token = line.tokens[at]
    before = line.tokens[at - 1].text if at else ""
    after = line.tokens[at + 1].text if at + 1 < len(line.tokens) else ""
    if (
        token.text in _COMMON_TOOLS
        and at
        and after not in _MADE_WITH_TOOL
        and before not in _TAKES_TOOL
        and not line.tokens[at - 1].has("not")
        and not line.tokens[at - 1].has("not_needed")
    ):
        return False
    if is_namesake(line, at, key, value):
        return False
    if key in ("framework", "method", "report_to") and _only_installed(line, at):
        return False
    if (
        token.text == "trainer"
        and before in ("its", "their")
        and any(r.key == "framework" for r in line.readings)
    ):
        # "sentence-transformers with its trainer" is one wish.
        return False
    if token.text == "sentence transformers" and not names_library(line, at):
        return False
    if after in _PUBLISHED and key in ("optimizer", "scheduler", "loss", "framework", "method", "report_to"):
        return False
    if token.text in ("mean absolute error", "absolute error") and not any(
        "loss" in t.text for t in line.tokens
    ):
        return False
    if token.text == "weights and biases" and any(
        t.key == "weight_decay" or "norm" in t.text for t in line.tokens
    ):
        # "No decay on norm weights and biases" names no tracker.
        return False
    if key == "precision" and token.text.startswith("float") and _of_arrays(line):
        return False
    if token.text == "eager" and not any(t.text.startswith(("attention", "attn")) for t in line.tokens):
        return False
    if value == "fp32" and before == "in" and _KEPT & set(line.words(at - 3, at - 1)):
        # "bf16 autocast, weights in fp32".
        return False
    if value == "fp32" and _beside_less(line, at):
        return False
    if token.text == "transformers" and (before == "of" or (before == "from" and _trained_by(line, at))):
        return False
    made_by = line.words(at + 2, at + 3)
    if (token.text == "trainer" and after == "of" and made_by != ["transformers"]) or (
        value == "end" and after == "of"
    ):
        return False
    if key == "num_labels" and after in ("file", "files", "folder", "per", "each", "for"):
        # "Write one output file per run".
        return False
    if key == "task":
        return after not in _NOT_A_TASK and not (token.text == "classifier" and before in ("the", "of"))
    if value == "fp16_or_bf16":
        samples = any(
            t.text in ("hz", "khz", "audio", "wav", "png", "images", "sensor", "pixels") for t in line.tokens
        )
        if token.text == "half" and (before == "by" or any(t.text in _CUT for t in line.tokens)):
            return False
        return not (token.text == "half" and _half_of_a_thing(line, at)) and not (
            samples and token.text != "half precision"
        )
    if key == "quantization":
        return after not in ("optimizer", "optimiser", "adam", "optim", "states", "png", "audio", "images")
    if key == "loss":
        return token.text not in ("mse", "mean squared error", "dice", "cross entropy") or not any(
            w in _MEASURES for w in line.words(at - 3, at)
        )
    if value == "from_scratch":
        return not any(
            w in ("write", "loop", "code", "implement", "build", "script", "written")
            for w in line.words(at - 3, at)
        )
    return True


def _half_of_a_thing(line: Line, at: int) -> bool:
    """Whether "half" describes what stands after it: "half batches", "half an epoch", "the half split"."""
    if at and line.tokens[at - 1].kind == "number":
        # "With probability one half".
        return True
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is None or after.kind != "word" or (at and line.tokens[at - 1].key == "precision"):
        return False
    noun = after.text.split()[0]
    return noun in _HALVED or noun in _SAMPLES or after.has("data") or bool(after.key)


def _beside_less(line: Line, at: int) -> bool:
    """Whether a part stays in fp32 beside a training in less: "bf16, gradient reduction in fp32"."""
    tokens = line.tokens
    less = any(
        t.gives("precision")
        and "32" not in t.text
        and not (n and tokens[n - 1].has("not"))
        and not any(o.has("judged") and o.segment == t.segment for o in tokens)
        for n, t in enumerate(tokens)
    )
    segment = tokens[at].segment
    before = [w for t in tokens[max(0, at - 6) : at] if t.segment == segment for w in t.text.split()]
    after = [w for t in tokens[at + 1 : at + 3] if t.segment == segment for w in t.text.split()]
    return less and bool((_KEPT | _WEIGHTS) & {*before[-6:], *after})


def _of_arrays(line: Line) -> bool:
    """Whether the sentence describes arrays: "x.npz has x_train and y_train, all float32"."""
    return any(
        t.text in _ARRAYS or (t.kind == "path" and t.text.endswith((".npz", ".npy", ".pt", ".h5")))
        for t in line.tokens
    )


def _trained_by(line: Line, at: int) -> bool:
    """Whether the Trainer is named just before: "the Trainer from transformers" is one wish."""
    return any(r.key == "framework" and r.value == "trainer" and r.last >= at - 2 for r in line.readings)


def _only_installed(line: Line, at: int) -> bool:
    """Whether a version of what is installed is told, and no tool is asked for."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is None or after.text in (">=", "==", "<=", "<", ">"):
        return after is not None
    if after.kind != "number" or after.value == int(after.value):
        return False
    before = line.tokens[at - 1].text if at else ""
    own = words_in(t for t in line.tokens if t.statement == line.tokens[at].statement)
    if any(a in ("are", "were", "am", "still", "im") and b == "on" for a, b in pairwise(own)):
        # "We are on transformers 5.24 / peft 0.20".
        return True
    if _takes(before):
        return False
    return any(w in _INSTALLED for w in own)


def _takes(before: str) -> bool:
    return before in ("use", "using", "with", "via", "under", "through", "on", "by", "switch to")


def _beside_schedule(line: Line, at: int) -> bool:
    """Whether "linear", "constant" or "step" speaks of the learning rate."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is not None and after.text in (
        "layers",
        "layer",
        "probe",
        "head",
        "regression",
        "model",
        "classifier",
        "probing",
        "size",
        "modules",
        "map",
        "projection",
    ):
        return False
    if line.tokens[at].text == "step":
        return is_step_schedule(line, at)
    if any(r.key == "scheduler" for r in line.readings):
        return True
    own = [t for t in line.tokens if t.segment == line.tokens[at].segment and t.kind != "break"]
    alone = all(t.text in ("then", "and", "linear", "constant") for t in own)
    if alone and any(r.key in ("warmup", "warmup_steps", "learning_rate") for r in line.readings):
        return True
    for place in range(max(0, at - 3), min(len(line.tokens), at + 4)):
        other = line.tokens[place]
        near = place != at and _one_breath(line, place, at)
        if near and (other.gives("scheduler") or other.key in _OF_SCHEDULE):
            return True
    return False


def _one_breath(line: Line, a: int, b: int) -> bool:
    """Whether two places stand in one segment, a colon aside."""
    return all(t.kind != "break" or t.text in (":", "(") for t in line.tokens[min(a, b) : max(a, b)])


def _kind_of_model(line: Line, at: int) -> bool:
    """Whether a kind of model is asked for, and none by name: "any small instruct model", "a 7B chat model"."""
    if any(r.key == "model" for r in line.readings):
        return False
    after = line.words(at + 1, at + 3)
    if not after or after[0] not in ("model", "models", "checkpoint", "llm", "variant"):
        return False
    first = at == 0 or line.tokens[at - 1].kind in ("number", "break")
    if line.tokens[at].text == "base" and not first and line.tokens[at - 1].text not in _ANY:
        # "The BERT base model" is a name.
        return False
    return first or any(
        w
        in (
            "any",
            "some",
            "a",
            "an",
            "small",
            "tiny",
            "whatever",
            "pick",
            "smallish",
            "multilingual",
            "suitable",
            "use",
        )
        for w in line.words(at - 4, at)
    )


# (key, the value said in general, those that say it in particular)
_GENERIC = (
    ("precision", "mixed", ("bf16", "fp16")),
    ("precision", "fp16_or_bf16", ("bf16", "fp16", "mixed")),
    ("quantization", "4bit", ("4bit-nf4", "int4", "awq", "gptq")),
    ("quantization", "8bit", ("int8",)),
    ("structured_output", "json", ("json_schema",)),
    ("method", "lora", ("qlora", "dora")),
    ("method", "peft", ("lora", "qlora")),
    ("augmentation", "flip", (True,)),
    ("augmentation", "crop", (True,)),
)  # fmt: skip


def _without_generic(line: Line) -> None:
    """Drop what a more particular word in the same sentence has said."""
    for key, general, particular in _GENERIC:
        said = [r for r in line.readings if r.key == key and r.value in particular]
        for reading in [r for r in line.readings if r.key == key and r.value == general]:
            if any(_alike(line, reading, other) and not _judged(line, other) for other in said):
                line.readings.remove(reading)


def _judged(line: Line, reading: Reading) -> bool:
    """Whether the segment of a reading says what does not work there: "the card cannot do bf16"."""
    segment = line.tokens[reading.first].segment
    return any(t.has("judged") and t.segment == segment for t in line.tokens)


def _alike(line: Line, a: Reading, b: Reading) -> bool:
    """Whether two readings are said in one breath, with no negation between."""
    first, last = sorted((a.first, b.first))
    return not any(
        t.has("not") or t.has("correction") or t.text == "than" for t in line.tokens[first : last + 1]
    )
