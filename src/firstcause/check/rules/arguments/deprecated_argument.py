"""An argument that the library still takes and has announced to remove.

Why: each run warns, and the next major version raises or, for from_pretrained, silently ignores it.
Refuted by: an older version that is pinned or installed, which does not know the new name.
Holds for: the versions in the table below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.check.versions import holds
from firstcause.schema.finding import Category, Finding

SLUG = "deprecated-argument-"
CATEGORY: Category = "suggestion"
HOLDS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Old:
    """An old argument of calls (dotted names, or the last name for methods), what replaces it, and since when."""

    argument: str
    calls: tuple[str, ...]
    instead: str
    library: str
    since: str


# From the libraries' own deprecation warnings.
TABLE = (
    Old("torch_dtype", ("from_pretrained", "from_config", "pipeline"), "dtype", "transformers", ">=4.56"),
    Old(
        "use_auth_token",
        ("from_pretrained", "load_dataset", "push_to_hub"),
        "token",
        "transformers",
        ">=4.31",
    ),
    Old(
        "size_average",
        ("MSELoss", "CrossEntropyLoss", "BCELoss", "L1Loss", "NLLLoss", "cross_entropy", "mse_loss"),
        "reduction",
        "torch",
        ">=1.0",
    ),
    Old(
        "pretrained",
        (
            "resnet18",
            "resnet34",
            "resnet50",
            "resnet101",
            "vgg16",
            "densenet121",
            "mobilenet_v2",
            "efficientnet_b0",
            "alexnet",
        ),
        "weights",
        "torchvision",
        ">=0.13",
    ),
    Old("gpus", ("lightning.Trainer",), "accelerator and devices", "lightning", ">=1.7"),
    Old(
        "resume_download",
        ("from_pretrained", "hf_hub_download", "snapshot_download"),
        "nothing: downloads resume by themselves",
        "transformers",
        ">=4.40",
    ),
)


def find(code: Code) -> Iterator[Finding]:
    given = {k.arg for m in code.modules for k in m.nodes(ast.keyword)}
    for old in TABLE:
        if (
            old.argument not in given
            or not code.imports(old.library)
            or not holds(code.versions.get(old.library), old.since)
        ):
            continue
        for call in code.methods_and_calls(*(c.rpartition(".")[2] for c in old.calls)):
            keyword = next((k for k in call.node.keywords if k.arg == old.argument), None)
            if keyword is None or not _is_theirs(call, old):
                continue
            text = f"{old.library} deprecates {old.argument}; now: {old.instead}"
            slug = f"{SLUG}{old.argument.replace('_', '-')}"
            yield finding(slug, CATEGORY, call.module, keyword.value, text, argument=old.argument)


def _is_theirs(call: Call, old: Old) -> bool:
    """A call of the library itself; methods such as from_pretrained are known by the class that they are called on."""
    top = call.name.partition(".")[0]
    if top == old.library:
        return "." not in old.calls[0] or call.name in old.calls
    return False


_LOAD = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", {given}){mark}
"""
BAD = (
    Example(_LOAD.format(given="torch_dtype=torch.bfloat16", mark="  # found")),
    Example("""
from torch import nn

loss = nn.MSELoss(size_average=False)  # found
"""),
)
GOOD = (
    Example(_LOAD.format(given="dtype=torch.bfloat16", mark="")),
    Example("""
class Model:
    @classmethod
    def from_pretrained(cls, name, torch_dtype=None):
        return cls()

model = Model.from_pretrained("x", torch_dtype="auto")
"""),
    Example("""
import transformers

def make(resnet18):
    return resnet18(pretrained=True)
"""),
)
