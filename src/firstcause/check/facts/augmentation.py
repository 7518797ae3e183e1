"""Which random changes the training images go through: flips, crops, colours, mixtures."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.values import value_of
from firstcause.source.callsites import last_name

LIBRARIES = ("torchvision.transforms", "torchvision.transforms.v2", "albumentations", "kornia.augmentation")
KINDS = {
    "RandomHorizontalFlip": "flip", "RandomVerticalFlip": "flip", "HorizontalFlip": "flip", "VerticalFlip": "flip",
    "Flip": "flip", "RandomResizedCrop": "crop", "RandomCrop": "crop", "RandomRotation": "rotation", "Rotate": "rotation",
    "ColorJitter": "color_jitter", "MixUp": "mixup", "RandomMixUpV2": "mixup", "CutMix": "cutmix", "RandomCutMixV2": "cutmix",
    "RandAugment": "randaugment", "AutoAugment": "", "TrivialAugmentWide": "", "AugMix": "", "RandomErasing": "",
    "RandomAffine": "", "ShiftScaleRotate": "",
}  # fmt: skip
# What draws whether a sample is changed, and where samples are made.
DRAWS = frozenset({"rand", "random", "uniform", "randint", "bernoulli"})
SAMPLES = frozenset({"__getitem__", "__iter__", "__call__", "augment", "transform", "collate", "collate_fn"})
FUNCTIONAL = ("torchvision.transforms.functional", "torchvision.transforms.v2.functional")
FLIPS = ("hflip", "vflip", "horizontal_flip", "vertical_flip")
# What timm's functions are told.
OF_TIMM = {
    "hflip": "flip",
    "vflip": "flip",
    "color_jitter": "color_jitter",
    "mixup_alpha": "mixup",
    "cutmix_alpha": "cutmix",
}


def augmentation_facts(code: Code) -> Iterator[Fact]:
    """Facts of augmentation, by kind and as such; they confirm what is asked for and contradict nothing."""
    if not code.asked("augmentation"):
        return
    yield from _of_own(code)
    for name, kind in KINDS.items():
        for call in code.calls(*(f"{library}.{name}" for library in LIBRARIES)):
            yield from _both(call, kind, name)
    for call in code.calls("timm.data.Mixup", "timm.data.mixup.Mixup", "timm.data.create_transform"):
        for argument, kind in OF_TIMM.items():
            given = value_of(call, argument)
            if given is not None and isinstance(given.value, (int, float)) and given.value > 0:
                yield from _both(call, kind, argument)
        policy = value_of(call, "auto_augment")
        if policy is not None and isinstance(policy.value, str) and policy.value:
            # "rand-m9-mstd0.5" is a RandAugment.
            kind = "randaugment" if policy.value.startswith("rand") else ""
            yield from _both(call, kind, "auto_augment")
        training = value_of(call, "is_training", 1)
        if training is not None and training.value is True:
            # Its defaults: a random crop, and a flip in half of the cases.
            for kind, argument in (("crop", ""), ("flip", "hflip")):
                if not argument or not call.may_have(argument):
                    yield from _both(call, kind, "create_transform(is_training=True)")


def _of_own(code: Code) -> Iterator[Fact]:
    """What a data set does itself to some of its samples: ``if torch.rand(1) < 0.5: x = x.flip(-1)``."""
    unwanted = all(i.value in ("none", False) or i.polarity == "forbid" for i in code.asked("augmentation"))
    mirrored = code.calls(
        "PIL.ImageOps.mirror", "PIL.ImageOps.flip", *(f"{f}.{n}" for f in FUNCTIONAL for n in FLIPS)
    )
    for call in (*code.methods("flip", "rot90", "roll"), *mirrored):
        function = call.module.function(call.node)
        test = next((p for p in call.module.ancestors(call.node) if isinstance(p, ast.If)), None)
        drawn = test is not None and any(
            isinstance(n, ast.Call) and last_name(n.func) in DRAWS for n in ast.walk(test.test)
        )
        if drawn and getattr(function, "name", "") in SAMPLES and test is not None:
            kind = "flip" if call.name.endswith(("flip", "mirror")) else "rotation"
            site = call.module.site(test)
            how = "a random change of the samples"
            yield Fact("augmentation", kind, site, how, confirms=not unwanted)
            if any(i.value is True for i in code.asked("augmentation")):
                yield Fact("augmentation", True, site, how, confirms=True)


def _both(call: Call, kind: str, how: str) -> Iterator[Fact]:
    if kind:
        yield Fact("augmentation", kind, call.site, how, confirms=True)
    yield Fact("augmentation", True, call.site, how, confirms=True)
