"""Which model is loaded, with how many labels, for which task, frozen, quantised, and how it is trained."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import FEATURES, Fact
from firstcause.check.facts.heads import likely_heads, own_heads
from firstcause.check.facts.quantised import quantised_facts
from firstcause.check.facts.values import value_of
from firstcause.check.freezing import frozen_part
from firstcause.check.loaded import loaded_class
from firstcause.check.makers import given_maker
from firstcause.check.reasons import reason
from firstcause.check.trainers import OF_TRL, TRAINERS

TASKS = {
    "ForSequenceClassification": "classification",
    "ForTokenClassification": "token_classification",
    "ForSeq2SeqLM": "seq2seq",
    "ForCausalLM": "causal_lm",
    "ForMaskedLM": "masked_lm",
    "ForQuestionAnswering": "question_answering",
    "ForImageClassification": "image_classification",
    "ForConditionalGeneration": "seq2seq",
    "ForObjectDetection": "detection",
    "ForZeroShotObjectDetection": "detection",
    "ForSemanticSegmentation": "segmentation",
    "ForInstanceSegmentation": "segmentation",
    "ForUniversalSegmentation": "segmentation",
}
ADAPTERS = ("peft.LoraConfig", "peft.AdaLoraConfig")
# What reads a checkpoint and is no model.
NO_MODEL = ("Tokenizer", "Processor", "Config", "FeatureExtractor", "Dataset", "Scheduler")
# Models of sentence-transformers.
ENCODERS = (
    "sentence_transformers.SentenceTransformer",
    "sentence_transformers.CrossEncoder",
    "sentence_transformers.SparseEncoder",
    "sentence_transformers.cross_encoder.CrossEncoder",
    "sentence_transformers.sparse_encoder.SparseEncoder",
)
# Methods of transformers' models that freeze a part of them.
PARTS = {
    "freeze_encoder": "encoder",
    "freeze_feature_encoder": FEATURES,
    "freeze_feature_extractor": FEATURES,
    "freeze_base_model": "backbone",
}
# The head of a model that a module holds: ``self.net.fc``.
OWN_HEAD = re.compile(r"self\.\w+\.(?:fc|classifier|head|heads)(?:\.head|\[-?\d+\])?")
TORCHVISION = "torchvision.models."
PACKAGES = frozenset({"segmentation", "detection", "video", "quantization", "optical_flow"})


def model_calls(code: Code) -> list[Call]:
    """The calls of from_pretrained that load a model; adapters on top of one left out."""
    return [c for c in code.methods_and_calls("from_pretrained") if _is_model(c)]


def _is_model(call: Call) -> bool:
    owner = loaded_class(call)
    return not any(part in owner for part in NO_MODEL) and not owner.startswith("Peft")


def model_facts(code: Code) -> Iterator[Fact]:
    """Facts of model, num_labels, task, method, freeze and quantization."""
    loaded = model_calls(code)
    for call in loaded:
        owner = loaded_class(call)
        name = value_of(call, "pretrained_model_name_or_path", 0)
        if name is not None and isinstance(name.value, str):
            why = reason(call.module, call.node)
            yield Fact(
                "model",
                name.value,
                name.site,
                f"{owner}.from_pretrained",
                "",
                not name.overridable,
                True,
                why,
            )
        task = next((t for end, t in TASKS.items() if owner.endswith(end)), None)
        if task:
            yield Fact("task", task, call.site, owner)
        kernel = value_of(call, "attn_implementation")
        if kernel is not None and isinstance(kernel.value, str):
            how = f"{owner}.from_pretrained(attn_implementation=)"
            yield Fact(
                "attn_implementation",
                kernel.value,
                kernel.site,
                how,
                "attn_implementation",
                not kernel.overridable,
            )
        yield from _labels(call, "num_labels")
        yield from _named_labels(call)
        if (
            task in ("classification", "token_classification")
            and not call.may_have("num_labels")
            and not call.may_have("id2label")
            and not call.may_have("config")
        ):
            # The configuration's default, where the checkpoint's own says nothing else.
            yield Fact(
                "num_labels", 2, call.site, f"{owner} without num_labels", "num_labels", explicit=False
            )
    for call in code.calls(*OF_TRL):
        name = value_of(call, "model", 0)
        if name is not None and isinstance(name.value, str):
            how = f"{call.name.rpartition('.')[2]}(model=)"
            why = reason(call.module, call.node)
            yield Fact("model", name.value, name.site, how, "model", not name.overridable, True, why)
    for call in code.calls(*ENCODERS):
        name = value_of(call, "model_name_or_path", 0)
        if name is not None and isinstance(name.value, str):
            how = call.name.rpartition(".")[2]
            why = reason(call.module, call.node)
            yield Fact("model", name.value, name.site, how, "", not name.overridable, True, why)
    for call in code.methods("gradient_checkpointing_enable")[:1]:
        yield Fact("gradient_checkpointing", True, call.site, "gradient_checkpointing_enable")
    yield from _vision(code)
    yield from _method(code, loaded)
    yield from quantised_facts(code, loaded)


def _labels(call: Call, argument: str) -> Iterator[Fact]:
    count = value_of(call, argument)
    if count is not None and isinstance(count.value, int):
        yield Fact("num_labels", count.value, count.site, f"{argument}=", argument)
    given = call.argument(argument) if count is None else None
    if given is not None and _is_counted(given.node):
        for asked in call.code.asked("num_labels"):
            how = f"{argument}= as many as the data have"
            yield Fact("num_labels", asked.value, call.site, how, argument, sure=False, confirms=True)


def _named_labels(call: Call) -> Iterator[Fact]:
    """As many labels as ``id2label`` names: a table that is written out, or one made of a list of names."""
    given = call.argument("id2label")
    if given is None or call.may_have("num_labels"):
        return
    for origin in call.code.origins(given.module, given.node):
        node: ast.AST | None = origin.node
        if isinstance(node, ast.DictComp):
            one = node.generators[0]
            node = one.iter if len(node.generators) == 1 and not one.ifs else None
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "dict" and node.args:
            node = node.args[0]
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "enumerate" and node.args:
            node = node.args[0]
        if isinstance(node, ast.Dict) and node.keys and None not in node.keys:
            yield Fact("num_labels", len(node.keys), call.site, "id2label=", "id2label")
        elif isinstance(node, ast.expr):
            names = call.code.constant(origin.module, node)
            # An empty one is filled further down.
            if names is not None and isinstance(names.value, (list, tuple)) and names.value:
                yield Fact(
                    "num_labels", len(names.value), call.site, "id2label=", "id2label", not names.overridable
                )


def _is_counted(node: ast.expr) -> bool:
    """Whether an expression counts what the data have: ``len(names)``, ``features["label"].num_classes``."""
    is_length = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
    return is_length or (isinstance(node, ast.Attribute) and node.attr in ("num_classes", "n_classes"))


def _vision(code: Code) -> Iterator[Fact]:
    for call in code.calls_within(TORCHVISION, "timm."):
        last = call.name.rpartition(".")[2]
        if call.name.startswith(TORCHVISION) and last[:1].islower() and _is_builder(call.name):
            yield Fact("model", last, call.site, call.name, reason=reason(call.module, call.node))
        elif call.name == "timm.create_model":
            name = call.constant("model_name", 0)
            if name is not None:
                yield Fact("model", name.value, name.site, call.name)
            rate = value_of(call, "drop_rate")
            if rate is not None and isinstance(rate.value, (int, float)):
                how = "create_model(drop_rate=)"
                yield Fact("dropout", rate.value, rate.site, how, "drop_rate", not rate.overridable)
        yield from _labels(call, "num_classes")
    for call in code.calls_within("segmentation_models_pytorch."):
        encoder = value_of(call, "encoder_name", 0)
        if encoder is not None and isinstance(encoder.value, str) and call.name.count(".") == 1:
            how = f"{call.name.rpartition('.')[2]}(encoder_name=)"
            yield Fact("model", encoder.value, encoder.site, how, "encoder_name", sure=False, confirms=True)
    heads = [*_heads(code), *own_heads(code)]
    for head in likely_heads(code) if not heads else ():
        width = value_of(head, "out_features", 1)
        if width is not None and isinstance(width.value, int) and width.value > 1:
            how = "the last layer's width"
            yield Fact("num_labels", width.value, head.site, how, "out_features", sure=False, confirms=True)
    for head in heads:
        width = value_of(head, "out_features", 1)
        if width is not None and isinstance(width.value, int):
            yield Fact("num_labels", width.value, head.site, "the last layer's width", "out_features")


def _is_builder(name: str) -> bool:
    """A function that builds a model: of torchvision.models or a package in it, and no class's method."""
    within = name[len(TORCHVISION) :].split(".")
    return len(within) == 1 or (len(within) == 2 and within[0] in PACKAGES)


def _heads(code: Code) -> Iterator[Call]:
    """Linear layers that are put in place of a model's head: ``model.fc = nn.Linear(…)``."""
    for call in code.calls("torch.nn.Linear"):
        statement = call.module.statement(call.node)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(
            isinstance(t, (ast.Attribute, ast.Subscript))
            and ("self." not in ast.unparse(t) or OWN_HEAD.fullmatch(ast.unparse(t)))
            for t in targets
        ):
            yield call


def _method(code: Code, loaded: list[Call]) -> Iterator[Fact]:
    """Adapters that reach the training, a frozen backbone, or all weights."""
    applied = [
        *code.calls("peft.get_peft_model", "peft.inject_adapter_in_model"),
        *code.calls_within("peft.PeftModel", "peft.AutoPeftModel"),
        *code.methods("add_adapter", "get_peft_model"),
    ]
    for call in code.calls_within("trl.", "transformers."):
        value = call.argument("peft_config")
        if value is not None and not (isinstance(value.node, ast.Constant) and value.node.value is None):
            applied.append(call)
    quantised = any(c.may_have("quantization_config") or c.may_have("load_in_4bit") for c in loaded)
    quantised = quantised or any(_loads_quantised(c) for c in code.calls(*OF_TRL))
    if applied:
        yield Fact(
            "method", "qlora" if quantised else "lora", applied[0].site, applied[0].name.rpartition(".")[2]
        )
    frozen = [c for c in code.methods("requires_grad_") if c.node.args and _is_false(c.node.args[0])]
    assigned = [
        (m, n)
        for m in code.modules
        for n in m.nodes(ast.Assign)
        if _is_false(n.value)
        and any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in n.targets)
    ]
    yield from _named_part(code)
    if frozen or assigned:
        site = frozen[0].site if frozen else assigned[0][0].site(assigned[0][1])
        # Beside an adapter all else is frozen, whatever was asked for.
        yield Fact(
            "freeze",
            frozen_part(code) or True,
            site,
            "requires_grad = False",
            confirms=bool(applied),
        )
    if applied or frozen or assigned:
        return
    if loaded and _freezes_nothing(code):
        yield Fact("freeze", False, loaded[0].site, "nothing is frozen", explicit=False)
    unused = code.calls(*ADAPTERS)
    if unused and any(k.arg is None for c in code.calls(*TRAINERS, *OF_TRL) for k in c.node.keywords):
        # The trainer may be given it through a mapping that the code does not write out.
        return
    if unused and code.trains():
        how = "an adapter's configuration that reaches no model"
        yield Fact("method", "full", unused[0].site, how, explicit=False)
    elif (whole := loaded or _given_by_name(code)) and code.trains():
        yield Fact("method", "full", whole[0].site, "no adapter and nothing frozen", explicit=False)


def _given_by_name(code: Code) -> list[Call]:
    """TRL's trainers that load a model by its name themselves, and whose arguments are all written out."""
    return [
        call
        for call in code.calls(*OF_TRL)
        if (model := call.constant("model", 0)) is not None
        and isinstance(model.value, str)
        and not any(k.arg is None for k in call.node.keywords)
    ]


def _freezes_nothing(code: Code) -> bool:
    """Whether a library's trainer gets all weights, and nothing in the program speaks of freezing."""
    if not code.asked("freeze") or not code.calls(*TRAINERS):
        return False
    words = (
        "freez", "frozen", "requires_grad", "no_grad", "inference_mode", "detach", "setattr", "optimizers",
        "create_optimizer", "kbit", "load_in_", "quantization_config",
    )  # fmt: skip
    names = {
        name
        for module in code.modules
        for node in module.nodes(ast.Name, ast.Attribute, ast.keyword, ast.FunctionDef)
        for name in (getattr(node, f, None) for f in ("id", "attr", "arg", "name"))
        if isinstance(name, str)
    }
    return not any(word in name.lower() for name in names for word in words)


def _named_part(code: Code) -> Iterator[Fact]:
    """What a model's own method freezes: ``freeze_encoder()``, ``freeze_feature_encoder()``."""
    for name, part in PARTS.items():
        for call in code.methods(name)[:1]:
            yield Fact("freeze", part, call.site, name, name)


def _loads_quantised(call: Call) -> bool:
    """A trainer of trl that loads the model by its name and quantises it: by itself, or by its settings."""
    if any(k.arg == "quantization_config" for k in call.node.keywords):
        return True
    settings = given_maker(call, "args", 1)
    given = settings.argument("model_init_kwargs") if settings is not None else None
    origins = call.code.origins(given.module, given.node) if given is not None else []
    texts = {n.value for o in origins for n in ast.walk(o.node) if isinstance(n, ast.Constant)}
    texts |= {k.arg for o in origins for n in ast.walk(o.node) if isinstance(n, ast.Call) for k in n.keywords}
    return bool(texts & {"quantization_config", "load_in_4bit"})


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
