"""A classification head has another number of outputs than the labels that the code itself names.

Why: a label beyond the head's outputs raises (a device-side assert on a GPU); outputs without a label are never right. Detectors
of torchvision's have one more, for the background.
Refuted by: equal numbers, labels that the code does not write out, a regression head, a name for the background.
Holds for: transformers, torchvision, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.detectors import without_background
from firstcause.check.facts.models import model_calls
from firstcause.check.loaded import loaded_class
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "wrong-num-labels"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Base models by their usual names; what was trained for a task is called otherwise.
BARE = re.compile(
    r"(?:[\w.-]+/)?(?:[a-z]*-)?(?:distil|modern|al|camem|g?electra|ro|de)?(?:bert|roberta|electra|deberta|camembert)[a-z]*"
    r"(?:-(?:base|large|small|tiny|cased|uncased|german|dbmdz|v\d|multilingual|discriminator|generator|whole|word|masking))*",
    re.IGNORECASE,
)
HEADS = (
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForImageClassification",
    "ForAudioClassification",
)
NAMED = frozenset(
    {
        "label",
        "labels",
        "label_names",
        "label_list",
        "class_names",
        "classes",
        "id2label",
        "label2id",
        "tags",
        "tag_names",
    }
)


def find(code: Code) -> Iterator[Finding]:
    for call, kinds in without_background(code):
        text = (
            f"{kinds} kinds of things are named and the head has {kinds} outputs: torchvision's detectors count the"
            f" background as class 0, so {kinds + 1} are needed, with labels from 1 on"
        )
        yield _told(call, text, kinds + 1, kinds)
    for call in model_calls(code):
        if not loaded_class(call).endswith(HEADS) or call.may_have("config"):
            continue
        count = call.constant("num_labels")
        given = {n: _size(call, n) for n in ("id2label", "label2id") if call.argument(n) is not None}
        sizes = {s for s in given.values() if s}
        if count is not None and isinstance(count.value, int) and sizes and sizes != {count.value}:
            text = f"num_labels={count.value} and {next(iter(given))} names {max(sizes)} classes"
            yield _told(call, text, max(sizes), count.value)
        elif not call.may_have("num_labels") and not call.may_have("id2label"):
            named = _named(code)
            if named is not None and named > 2:
                text = (
                    f"no num_labels is given, so the head has 2 outputs, and the code names {named} classes"
                )
                yield _told(call, text, named, 2)
            elif not call.may_have("problem_type") and _one_is_asked(code) and _is_bare(code, call):
                text = "no num_labels is given, so the head has 2 outputs, and one number was asked for"
                yield _told(call, text, 1, 2)


def _is_bare(code: Code, call: Call) -> bool:
    """Whether a checkpoint of the hub has no head yet, and is trained here: by a base model's usual name."""
    name = call.constant("pretrained_model_name_or_path", 0)
    return name is not None and code.trains() and BARE.fullmatch(str(name.value)) is not None


def _one_is_asked(code: Code) -> bool:
    """Whether the head is to give one number: a regression, or num_labels of 1."""
    one = any(i.value == 1 and i.polarity == "require" for i in code.asked("num_labels"))
    return one or any(i.value == "regression" for i in code.asked("task"))


def _told(call: Call, text: str, asked: int, got: int) -> Finding:
    return finding(
        SLUG,
        CATEGORY,
        call.module,
        call.node,
        text,
        key="num_labels",
        asked=str(asked),
        got=str(got),
        argument="num_labels",
    )


def _size(call: Call, name: str) -> int:
    known = call.constant(name)
    return len(known.value) if known is not None and isinstance(known.value, (dict, list)) else 0


def _named(code: Code) -> int | None:
    """How many classes the program's one list or dictionary of labels names."""
    sizes = {s for m in code.modules for s in _lists(code, m)}
    return sizes.pop() if len(sizes) == 1 else None


def _lists(code: Code, module: Module) -> Iterator[int]:
    for node in module.nodes(ast.Assign):
        target = node.targets[0]
        if (
            not isinstance(target, ast.Name)
            or target.id.lower() not in NAMED
            or module.function(node) is not None
        ):
            continue
        if isinstance(node.value, (ast.List, ast.Tuple, ast.Dict)):
            known = code.constant(module, node.value)
            values = list(known.value) if known is not None else []
            # Class names are texts; a list of numbers may be anybody's labels of single samples.
            kinds = (str, int) if isinstance(node.value, ast.Dict) else (str,)
            if values and all(isinstance(v, kinds) for v in values) and len(set(values)) == len(values):
                yield len(values)


_BODY = """
from transformers import AutoModelForSequenceClassification

{labels}
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased"{given}){mark}
"""
_DETECTOR = """
from torchvision.models.detection import fasterrcnn_resnet50_fpn_v2
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor

KINDS = {kinds}
detector = fasterrcnn_resnet50_fpn_v2(weights="DEFAULT")
width = detector.roi_heads.box_predictor.cls_score.in_features
detector.roi_heads.box_predictor = FastRCNNPredictor(width, {count}){mark}
"""
BAD = (
    Example(_DETECTOR.format(kinds='("cat", "dog")', count="len(KINDS)", mark="  # found")),
    Example("""
from torchvision.models import detection

KINDS = ["bolt", "nut", "gear"]
detector = detection.retinanet_resnet50_fpn(weights=None, num_classes=len(KINDS))  # found
"""),
    Example(_BODY.format(labels='LABELS = ["bug", "feature", "question"]', given="", mark="  # found")),
    Example(
        _BODY.format(
            labels='id2label = {0: "a", 1: "b", 2: "c"}',
            given=", num_labels=2, id2label=id2label",
            mark="  # found",
        )
    ),
)
GOOD = (
    Example(_DETECTOR.format(kinds='("cat", "dog")', count="len(KINDS) + 1", mark="")),
    Example(_DETECTOR.format(kinds='("__background__", "cat", "dog")', count="len(KINDS)", mark="")),
    Example(_DETECTOR.format(kinds='("cat", "dog")', count="91", mark="")),
    Example(
        _BODY.format(
            labels='LABELS = ["bug", "feature", "question"]', given=", num_labels=len(LABELS)", mark=""
        )
    ),
    Example(
        _BODY.format(labels='id2label = {0: "a", 1: "b"}', given=", num_labels=2, id2label=id2label", mark="")
    ),
    Example(_BODY.format(labels='LABELS = ["no", "yes"]', given="", mark="")),
    Example(_BODY.format(labels="labels = [0, 1, 1, 0, 2]", given="", mark="")),
)
