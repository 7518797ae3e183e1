"""Heads that start from random weights, put under an adapter that neither trains nor saves them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.check.checkpoints import family
from firstcause.check.code import Call, Code
from firstcause.check.constants import Named
from firstcause.check.freezing import trainable_again
from firstcause.check.loaded import loaded_class
from firstcause.check.makers import first_maker, given_maker
from firstcause.check.trainers import TRAINERS, trainer_runs

CONFIGS = tuple(f"peft.{n}Config" for n in ("Lora", "AdaLora", "LoHa", "LoKr", "IA3", "OFT", "BOFT"))
# Classes whose head a checkpoint of the pretrained body does not have.
HEADED = re.compile(
    r"For(Sequence|Token|Image|Audio|Video|AudioFrame|Node|Graph)Classification$|ForMultipleChoice$|ForXVector$"
    r"|ForSemanticSegmentation$"
)
# The task types for which peft adds the head to modules_to_save, since 0.3; of the others none does.
KEEP_HEAD = ("SEQ_CLS", "TOKEN_CLS")
# Folders and names of what the user has trained before; a name of the hub has one slash at most.
OWN = re.compile(
    r"^[./~]|/.*/|\\|checkpoint-|^(runs?|out|outputs?|checkpoints?|ckpts?|models?|results?|logs|saved?|exp)/"
    r"|\b\w*(ckpt|checkpoint|best|resume|finetuned|out_dir|output)\w*$",
    re.IGNORECASE,
)
HEADS = frozenset(
    {"classifier", "score", "head", "fc", "logits_proj", "summary", "decode_head", "classification_head"}
)


def frozen_heads(code: Code) -> Iterator[tuple[Call, Call]]:
    """The configuration of an adapter, and the call that makes the model whose new head it leaves frozen."""
    if not code.imports("peft") or not code.trains() or _set_later(code):
        return
    seen = set()
    for config, model in _adapted(code):
        if config.node not in seen and _is_new(model) and _leaves_out(config, model):
            seen.add(config.node)
            yield config, model


def _adapted(code: Code) -> Iterator[tuple[Call, Call]]:
    for call in code.calls("peft.get_peft_model"):
        config, model = given_maker(call, "peft_config", 1), call.argument("model", 0)
        made = first_maker(code, model.module, model.node) if model is not None and not model.path else None
        if config is not None and made is not None:
            yield config, made
    for run in trainer_runs(code):
        config = given_maker(run.call, "peft_config")
        if config is not None and run.model is not None and run.call.name not in TRAINERS:
            yield config, run.model


def _is_new(model: Call) -> bool:
    """Whether the head of a model is surely new: the number of classes is given, or the checkpoint is of a body alone."""
    if model.name == "timm.create_model":
        pretrained = model.constant("pretrained", 1)
        return pretrained is not None and pretrained.value is True and model.may_have("num_classes")
    if model.name and not model.name.endswith("from_pretrained"):
        return False
    if not HEADED.search(loaded_class(model)):
        return False
    name = model.constant("pretrained_model_name_or_path", 0)
    text = name.value if name is not None and isinstance(name.value, str) else None
    given_name = model.argument("pretrained_model_name_or_path", 0)
    written = ast.unparse(given_name.node) if given_name is not None else ""
    if OWN.search(text if text is not None else written):
        # A folder of the user's own may hold a head that was trained.
        return False
    given = any(k.arg in ("num_labels", "id2label") for k in model.node.keywords)
    if any(k.arg in (None, "config", "state_dict") for k in model.node.keywords):
        return False
    return given or (text is not None and _is_body(text))


def _is_body(name: str) -> bool:
    """Whether a name is that of a language model before any task: bert-base-uncased, not org/bert-base-uncased-sst2."""
    last = name.lower().rpartition("/")[2]
    plain = re.fullmatch(
        r"[a-z0-9]+(-v\d)?(-(base|large|small|xlarge|tiny|mini))?(-(un)?cased)?(-\d+(\.\d+)?b)?", last
    )
    return plain is not None and family(name) is not None


def _leaves_out(config: Call, model: Call) -> bool:
    """Whether a configuration surely neither saves the head nor puts an adapter on it."""
    if config.name not in CONFIGS or config.node.args or any(k.arg is None for k in config.node.keywords):
        return False
    saved = config.constant("modules_to_save")
    if config.may_have("modules_to_save") and (saved is None or saved.value):
        return False
    kind = config.constant("task_type")
    if kind is None and config.may_have("task_type"):
        return False
    word = (
        kind.value.name if kind is not None and isinstance(kind.value, Named) else kind.value if kind else ""
    )
    if str(word).rpartition(".")[2] in KEEP_HEAD:
        return False
    targets = config.constant("target_modules")
    if targets is None:
        return not config.may_have("target_modules")
    if not isinstance(targets.value, list):
        # "all-linear" takes the head in; a pattern may.
        return targets.value is None
    names = {str(t).rpartition(".")[2] for t in targets.value}
    of_text = "SequenceClassification" in loaded_class(model)
    return not names & (HEADS | {"out_proj"} if of_text else HEADS)


def _set_later(code: Code) -> bool:
    """Whether a configuration is completed, or a head replaced or made trainable, after it was built."""
    stored = {n.attr for m in code.modules for n in m.nodes(ast.Attribute) if isinstance(n.ctx, ast.Store)}
    return bool(stored & (HEADS | {"modules_to_save", "task_type"})) or trainable_again(code)
