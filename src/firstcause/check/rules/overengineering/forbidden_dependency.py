"""A library is used that the brief rules out.

Why: it was said not to be used: it may be missing where the program runs, or forbidden there.
Refuted by: a brief that does not rule it out, an import under a test or a try.
Holds for: every library.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.schema.instruction import Instruction
from firstcause.source.module import Module

SLUG = "forbidden-dependency"
CATEGORY: Category = "deviation"
HOLDS: Mapping[str, str] = {}

# The packages that a word of a brief stands for.
PACKAGES = {
    "lightning": ("lightning", "pytorch_lightning"),
    "trainer": (),
    "deepspeed": ("deepspeed",),
    "accelerate": ("accelerate",),
    "vllm": ("vllm",),
    "sglang": ("sglang",),
    "trl": ("trl",),
    "peft": ("peft",),
    "lora": ("peft",),
    "wandb": ("wandb",),
    "tensorboard": ("tensorboard", "tensorboardX"),
    "mlflow": ("mlflow",),
    "transformers": ("transformers",),
    "4bit": ("bitsandbytes",),
}
KEYS = ("framework", "report_to", "method", "quantization", "distributed", "dependency")


def find(code: Code) -> Iterator[Finding]:
    for key in KEYS:
        for ruled in code.asked(key):
            if ruled.polarity != "forbid":
                continue
            word = str(ruled.value).lower()
            for module, node, name in _imports(code, PACKAGES.get(word, (word,))):
                text = f"{name} is imported and was ruled out (“{ruled.sentence.strip()[:80]}”)"
                yield finding(SLUG, CATEGORY, module, node, text, key=key, asked=f"not {word}", got=name)
                break


def _imports(code: Code, packages: tuple[str, ...]) -> Iterator[tuple[Module, ast.stmt, str]]:
    for module in code.modules:
        imports: list[ast.Import | ast.ImportFrom] = [
            *module.nodes(ast.Import),
            *module.nodes(ast.ImportFrom),
        ]
        for node in imports:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found = next((n for n in names if n.partition(".")[0] in packages), "")
            if found and not any(isinstance(p, (ast.Try, ast.If)) for p in module.ancestors(node)):
                yield module, node, found.partition(".")[0]


_NO_WANDB = Instruction("report_to", "wandb", "No wandb.", polarity="forbid")
_NO_LIGHTNING = Instruction("framework", "lightning", "Do not use Lightning.", polarity="forbid")
BAD = (
    Example("import torch\nimport wandb  # found\n\nprint(torch, wandb)\n", asked={"no": _NO_WANDB}),
    Example(
        "from pytorch_lightning import Trainer  # found\n\nprint(Trainer)\n", asked={"no": _NO_LIGHTNING}
    ),
)
GOOD = (
    Example("import lightning\n", asked={"framework": "lightning"}),
    Example("import wandb\n", asked={"no": _NO_LIGHTNING}),
    Example("try:\n    import wandb\nexcept ImportError:\n    wandb = None\n", asked={"no": _NO_WANDB}),
)
