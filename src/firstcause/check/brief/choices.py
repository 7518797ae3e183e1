"""Values that are words: optimizers, schedules, precisions, methods, frameworks, switches."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import word_set

# Words that are names of tools only beside a word that takes a tool.
_COMMON_TOOLS = word_set("choices", "common_tools")
_TAKES_TOOL = word_set("choices", "takes_tool")
_HALVED = frozenset({"of", "the", "a", "an", "as", "that", "and", "epoch", "hour"})
_MADE_WITH_TOOL = frozenset(
    {"script", "module", "code", "loop", "version", "trainer", "callback", "optimizer"}
)
_INSTALLED = word_set("choices", "installed")
_MEASURES = word_set("choices", "measures")
_NOT_A_TASK = word_set("choices", "not_a_task")


_ANSWERS = ("answer", "assistant", "respon", "completion", "repl")


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
            _take(line, at, named.key.name, True)
    _bare_full(line)
    _answers_only(line)
    _without_generic(line)


def _bare_full(line: Line) -> None:
    """Claim "full" where it stands alone: "No LoRA. Full."."""
    for at, token in enumerate(line.tokens):
        if (
            token.text == "full"
            and sum(t.segment == token.segment and t.kind != "break" for t in line.tokens) == 1
        ):
            line.claim(Reading("method", "full", at, at))


def _answers_only(line: Line) -> None:
    """Claim "loss only on the answer tokens" in the wordings that no phrase has."""
    for at, token in enumerate(line.tokens):
        words = [w for t in line.tokens[at : at + 6] if t.segment == token.segment for w in t.text.split()]
        if token.text == "only" and any(w.startswith(_ANSWERS) for w in words):
            before = [w for t in line.tokens[:at] for w in t.text.split()]
            if (
                any(w in ("loss", "entropy", "learn", "train", "trained") for w in before[-8:])
                and not token.claimed
            ):
                line.claim(Reading("completion_only", True, at, at))


def _take(line: Line, at: int, key: str, value: object) -> None:
    if key in ("num_gpus", "num_labels", "save_rank", "save_total_limit", "zero_stage"):
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
    if key in ("framework", "method", "report_to") and _only_installed(line, at):
        return False
    if token.text == "transformers" and before == "of":
        return False
    made_by = line.words(at + 2, at + 3)
    if (token.text == "trainer" and after == "of" and made_by != ["transformers"]) or (
        value == "end" and after == "of"
    ):
        return False
    if key == "task":
        return after not in _NOT_A_TASK and not (token.text == "classifier" and before in ("the", "of"))
    if value == "fp16_or_bf16":
        samples = any(
            t.text in ("hz", "khz", "audio", "wav", "png", "images", "sensor", "pixels") for t in line.tokens
        )
        return after not in _HALVED and not (samples and token.text != "half precision")
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


def _only_installed(line: Line, at: int) -> bool:
    """Whether a version of what is installed is told, and no tool is asked for."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is None or after.text in (">=", "==", "<=", "<", ">"):
        return after is not None
    if after.kind != "number" or after.value == int(after.value):
        return False
    before = line.tokens[at - 1].text if at else ""
    if _takes(before):
        return False
    own = (w for t in line.tokens if t.statement == line.tokens[at].statement for w in t.text.split())
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
    if any(r.key == "scheduler" for r in line.readings):
        return True
    own = [t for t in line.tokens if t.segment == line.tokens[at].segment and t.kind != "break"]
    alone = all(t.text in ("then", "and", "linear", "constant") for t in own)
    if alone and any(r.key in ("warmup", "warmup_steps", "learning_rate") for r in line.readings):
        return True
    for place in range(max(0, at - 3), min(len(line.tokens), at + 4)):
        other = line.tokens[place]
        if place == at or not _one_breath(line, place, at) or other.entry is None:
            continue
        if any(key == "scheduler" for key, _ in other.entry.values):
            return True
        if other.entry.named is None:
            continue
        if other.entry.named.key.name in (
            "scheduler",
            "warmup",
            "warmup_steps",
            "warmup_ratio",
            "learning_rate",
        ):
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
)  # fmt: skip


def _without_generic(line: Line) -> None:
    """Drop what a more particular word in the same sentence has said."""
    for key, general, particular in _GENERIC:
        said = [r for r in line.readings if r.key == key and r.value in particular]
        for reading in [r for r in line.readings if r.key == key and r.value == general]:
            if any(_alike(line, reading, other) for other in said):
                line.readings.remove(reading)


def _alike(line: Line, a: Reading, b: Reading) -> bool:
    """Whether two readings are said in one breath, with no negation between."""
    first, last = sorted((a.first, b.first))
    return not any(
        t.has("not") or t.has("correction") or t.text == "than" for t in line.tokens[first : last + 1]
    )
