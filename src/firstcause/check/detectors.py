"""Detectors of torchvision's that have as many outputs as the code names kinds of things, and none for the background."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.source.frames import Value

_HERE = "torchvision.models.detection."
PREDICTORS = {
    f"{_HERE}faster_rcnn.FastRCNNPredictor": 1,
    f"{_HERE}mask_rcnn.MaskRCNNPredictor": 2,
}
MAKERS = tuple(
    _HERE + name
    for name in (
        "fasterrcnn_resnet50_fpn",
        "fasterrcnn_resnet50_fpn_v2",
        "fasterrcnn_mobilenet_v3_large_fpn",
        "fasterrcnn_mobilenet_v3_large_320_fpn",
        "maskrcnn_resnet50_fpn",
        "maskrcnn_resnet50_fpn_v2",
        "retinanet_resnet50_fpn",
        "retinanet_resnet50_fpn_v2",
        "fcos_resnet50_fpn",
        "ssd300_vgg16",
        "ssdlite320_mobilenet_v3_large",
        "FasterRCNN",
        "MaskRCNN",
    )
)
_BACKGROUND = ("background", "__background__", "bg", "_background_", "none", "nothing")


def without_background(code: Code) -> Iterator[tuple[Call, int]]:
    """The call, and how many kinds it counts; torchvision's detectors count the background as class 0."""
    for call in code.calls(*PREDICTORS, *MAKERS):
        given = call.argument("num_classes", PREDICTORS.get(call.name))
        counted = _counted(code, given) if given is not None else None
        if counted:
            yield call, counted


def _counted(code: Code, given: Value) -> int | None:
    """How many names are counted by ``len``, where none of them is the background's."""
    for origin in code.origins(given.module, given.node):
        node = origin.node
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "len"
            and node.args
        ):
            known = code.constant(origin.module, node.args[0])
            names = (
                list(known.value)
                if known is not None and isinstance(known.value, (list, tuple, dict))
                else []
            )
            if names and all(isinstance(n, str) for n in names):
                return None if {n.lower() for n in names} & {*_BACKGROUND} else len(names)
    return None
