"""Whether a value of the code is what an instruction asks for, key by key."""

from __future__ import annotations

import math
import os
import re
from typing import Any

from firstcause.check.facts.fact import FEATURES
from firstcause.check.facts.normal import model, normal, path
from firstcause.schema.instruction import Instruction

# "around N" accepts a quarter more or less (the vocabulary's own rule).
AROUND = 0.25
TOLERANCE = 1e-9
NONE = (0, 0.0, False, None, "none", "no", "off", "constant")
TASKS = {
    "nli": "classification", "sentiment": "classification", "topic": "classification", "intent": "classification",
    "classify": "classification", "sequence_classification": "classification", "chat": "causal_lm", "summarize": "seq2seq",
    "summarise": "seq2seq", "summarization": "seq2seq", "summarisation": "seq2seq", "translate": "seq2seq",
    "translation": "seq2seq", "generation": "causal_lm", "language_modeling": "causal_lm", "ner": "token_classification",
    "tagging": "token_classification", "qa": "question_answering",
}  # fmt: skip
# Words of a metric's name that say on which data it is taken.
HELD_OUT = frozenset({"eval", "val", "valid", "validation", "dev", "test"})
FIGURES = {
    "acc": "accuracy",
    "top1": "accuracy",
    "perplexity": "loss",
    "ppl": "loss",
    "auroc": "auc",
    "miou": "iou",
    "rouge": "rougel",
}
MIXED = ("fp16", "bf16", "mixed")
# Which projection of an attention block each name means.
ROLES = {
    name: role
    for role, names in {
        "query": "qproj q query toq wq qlin",
        "key": "kproj k key tok wk klin",
        "value": "vproj v value tov wv vlin",
        "output": "oproj o outproj toout toout.0 wo outlin",
    }.items()
    for name in names.split()
}
# The projections of an attention block, as the models of transformers and diffusers call them.
OF_ATTENTION = frozenset(ROLES) | {"qkv", "qkvproj", "querykeyvalue", "cattn", "wqkv"}
# What torchvision's builders begin with where a backbone follows.
_HEADS = frozenset(
    {
        "lraspp",
        "deeplabv3",
        "fcn",
        "fasterrcnn",
        "maskrcnn",
        "keypointrcnn",
        "retinanet",
        "fcos",
        "ssdlite320",
        "ssd300",
    }
)


def agrees(instruction: Instruction, value: Any) -> bool:
    """Whether the code's value satisfies an instruction; a forbidden value is satisfied by any other."""
    asked = instruction.value
    if instruction.polarity == "forbid":
        if str(asked).startswith("hydra."):
            # Hydra's own folder is unwanted, and any other one is as asked.
            return not str(value).startswith("hydra.")
        # The thing itself is unwanted: only its neutral value is as asked.
        return value in NONE if asked == "none" else not _same(instruction.key, asked, value)
    if _is_number(asked) and _is_number(value):
        return _number(instruction.relation, float(asked), float(value))
    if instruction.key == "model" and _is_part(str(asked), str(value)):
        return True
    return _same(instruction.key, asked, value)


def _number(relation: str, asked: float, got: float) -> bool:
    if relation == "max":
        return got <= asked * (1 + TOLERANCE)
    if relation == "min":
        return got >= asked * (1 - TOLERANCE)
    if relation == "approx":
        return abs(got - asked) <= AROUND * abs(asked)
    return math.isclose(asked, got, rel_tol=TOLERANCE, abs_tol=1e-15)


def _same(key: str, asked: Any, got: Any) -> bool:
    compare = _BY_KEY.get(key)
    if compare is not None:
        return compare(asked, got)
    if isinstance(asked, bool) or isinstance(got, bool):
        return _truth(asked) == _truth(got)
    if isinstance(asked, list) or isinstance(got, list):
        return _as_set(asked) == _as_set(got)
    return _word(normal(key, asked)) == _word(normal(key, got))


def _word(value: Any) -> str:
    return re.sub(r"[\s_-]+", "", str(value).lower())


def _truth(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() in ("true", "yes", "on", "1")


def _as_set(value: Any) -> frozenset[str]:
    values = value if isinstance(value, (list, tuple)) else re.split(r"[,\s]+", str(value))
    return frozenset(_word(v) for v in values if str(v))


def _model(asked: Any, got: Any) -> bool:
    # "ResNet-50" is what torchvision calls resnet50 and timm resnet50.a1_in1k.
    one, other = _word(model(str(asked))), _word(model(str(got)))
    builder = "/" not in other and other.rpartition(".")[0]
    return one in (other, other.rpartition("/")[2], builder) or one.rpartition("/")[2] == other


def _is_part(asked: str, got: str) -> bool:
    """Whether a builder of torchvision's puts what was asked for under a head: lraspp_mobilenet_v3_large."""
    words, wanted = re.split(r"[_.]", got.lower()), _word(asked)
    return words[0] in _HEADS and wanted in {"".join(words[1:n]) for n in range(2, len(words) + 1)}


def _file(asked: Any, got: Any) -> bool:
    """The same path, the same folder, or a folder or a pattern that holds it."""
    one, other = path(str(asked)), path(str(got))
    if other.startswith("{}") or one.startswith("hydra."):
        # What the code builds at run time cannot be compared.
        return True
    if os.path.dirname(one) == os.path.dirname(other) != "" and _PLACE.search(os.path.basename(one)):
        return True
    if one == other or (
        ("/" not in one or "/" not in other) and os.path.basename(one) == os.path.basename(other)
    ):
        return True
    if other.startswith(one.rstrip("*") + ("" if one.endswith("*") else "/")):
        return True
    pattern = re.escape(one).replace(r"\*", "[^/]*").replace("N", "[^/]*")
    return bool(re.fullmatch(pattern, other)) or ("{}" in other and _varies(one, other))


def _varies(asked: str, got: str) -> bool:
    parts = [re.escape(p) for p in got.split("{}")]
    return bool(re.fullmatch("[^/]*".join(parts), asked)) or asked.startswith(
        got.partition("{}")[0].rstrip("/-_") or "\0"
    )


def _dataset(asked: Any, got: Any) -> bool:
    return (
        _word(asked).endswith(_word(str(got).rpartition("/")[2]))
        or _word(got).endswith(_word(str(asked).rpartition("/")[2]))
        or _file(asked, got)
        or path(str(asked)).startswith(path(str(got)) + "/")
    )


def _precision(asked: Any, got: Any) -> bool:
    one, other = normal("precision", asked), normal("precision", got)
    return bool(one == other or (one in ("mixed", "half", "fp16_or_bf16") and other in MIXED))


def _betas(asked: Any, got: Any) -> bool:
    """Both numbers, whichever way they are written."""
    one, other = _numbers(asked), _numbers(got)
    return one == other if one and other else _as_set(asked) == _as_set(got)


def _numbers(value: Any) -> list[float]:
    """The numbers of a list or a text; empty where something in it is none."""
    parts = value if isinstance(value, (list, tuple)) else re.split(r"[,;\s]+", str(value).strip(" ,;()[]"))
    try:
        return [float(p) for p in parts]
    except (TypeError, ValueError):
        return []


def _optimizer(asked: Any, got: Any) -> bool:
    return _word(normal("optimizer", asked)) == _word(normal("optimizer", got))


def _scheduler(asked: Any, got: Any) -> bool:
    """A constant rate may have a warm-up before it: that is asked for by itself."""
    one, other = _word(normal("scheduler", asked)), _word(normal("scheduler", got))
    return one == other or (one == "constant" and other == "constantwithwarmup")


def _task(asked: Any, got: Any) -> bool:
    one, other = (TASKS.get(str(task).lower(), _word(task)) for task in (asked, got))
    # Of images or sounds, where the words do not say of what.
    plain = one == "classification" and other in ("imageclassification", "audioclassification")
    return plain or one == other or _word(asked) == _word(got)


def _freeze(asked: Any, got: Any) -> bool:
    """That something is frozen; of a method that freezes a part by its name, that it is not too little."""
    if got == "embeddings":
        return "embed" in str(asked).lower()
    if {got, asked} == {"vision_encoder", "text_encoder"}:
        return False
    if got == FEATURES:
        return any(w in str(asked).lower() for w in ("feature", "conv", "cnn"))
    return bool(got) == (asked not in NONE)


def _framework(asked: Any, got: Any) -> bool:
    own = {"pytorch", "customloop", "plainpytorch"}
    one, other = _word(asked), _word(got)
    if one == "pytorch" and other == "transformers":
        return True
    # Who asks for transformers has it wherever its models are trained or generate: only other engines are another thing.
    if one == "customloop" and other == "accelerate":
        # Its loop is the user's own.
        return True
    return one == other or {one, other} <= own or (one == "transformers" and other not in ("vllm", "sglang"))


def _method(asked: Any, got: Any) -> bool:
    one, other = _word(asked), _word(got)
    if one in ("continuedpretraining", "fromscratch"):
        # Said of the data and of the start: all weights are trained as a rule.
        return True
    return one == other or (one in ("lora", "peft", "adapter") and other in ("lora", "qlora"))


def _modules(asked: Any, got: Any) -> bool:
    one, other = _as_set(asked), _as_set(got)
    roles = [{ROLES.get(w) for w in words} for words in (one, other)]
    if None not in roles[0] | roles[1]:
        # The same projections under the names that another family of models gives them.
        return roles[0] == roles[1]
    everything = {"alllinear", "all"}
    if one & everything or other & everything:
        return bool(one & everything) == bool(other & everything)
    return one == other or (one == {"attention"} and bool(other) and other <= OF_ATTENTION)


def _quantization(asked: Any, got: Any) -> bool:
    # Marlin is the kernel that computes with such weights.
    words = {_word(v).removesuffix("marlin") for v in (asked, got)}
    four = {"4bit", "nf4", "int4", "fp4", "4bitnf4", "4bitfp4", "bnb4bit"}
    return len(words) == 1 or words <= four or words <= {"8bit", "int8", "bnb8bit"}


def _metric(asked: Any, got: Any) -> bool:
    """The same figure, whatever the prefix of the data and the average: val_acc and accuracy, macro_f1 and f1."""
    one, other = _figure(asked), _figure(got)
    return one <= other or other <= one


def _figure(name: Any) -> frozenset[str]:
    words = [w for w in re.split(r"[\W_]+", str(name).lower()) if w and w not in HELD_OUT]
    return frozenset(FIGURES.get(w, w) for w in words)


def _distributed(asked: Any, got: Any) -> bool:
    """A launcher starts any of them."""
    return _word(asked) in ("torchrun", "tensorparallel") or _word(asked) == _word(got)


def _offload(asked: Any, got: Any) -> bool:
    """To whatever place: what was asked for is that it is done."""
    return (asked not in NONE) == (got not in NONE)


def _structured(asked: Any, got: Any) -> bool:
    """Held to a form at all, where a form is asked for; JSON of any kind is no schema."""
    if asked in NONE or got in NONE:
        return (asked in NONE) == (got in NONE)
    return not (asked == "json_schema" and got == "json")


_BY_KEY = {
    "structured_output": _structured,
    "offload": _offload,
    "distributed": _distributed,
    "metric_for_best": _metric,
    "model": _model,
    "dataset": _dataset,
    "input_path": _file,
    "output_path": _file,
    "output_dir": _file,
    "precision": _precision,
    "adam_betas": _betas,
    "optimizer": _optimizer,
    "scheduler": _scheduler,
    "method": _method,
    "lora_target_modules": _modules,
    "quantization": _quantization,
    "task": _task,
    "freeze": _freeze,
    "framework": _framework,
}


# A number that changes from save to save, as people write it: epoch-N, step_{k}, run*.
_PLACE = re.compile(r"[\W_](N|n|k|X)$|[{*<]")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
