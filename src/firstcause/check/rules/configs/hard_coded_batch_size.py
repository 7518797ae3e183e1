"""A batch size written into the code while the config has one that nothing reads.

Why: who changes the config, or sweeps over it, changes nothing.
Refuted by: any read of the config's batch size, by name or as a part of something handed on whole.
Holds for: torch's loaders and the training arguments of transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.config_reads import config_reads, unread
from firstcause.check.facts.engines import TRAINER
from firstcause.check.facts.table import families
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.configs.file import ConfigFile

SLUG = "hard-coded-batch-size"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

NAMES = frozenset({
    "batch_size", "train_batch_size", "batch_size_train", "per_device_train_batch_size", "micro_batch_size", "bs", "train_bs",
})  # fmt: skip


def find(code: Code) -> Iterator[Finding]:
    configs = {c.path: c for r in config_reads(code).read for c in r.configs}
    entries = [(c, p, n) for c in configs.values() for p, n in unread(code, c) if p[-1] in NAMES]
    if len(entries) != 1:
        return
    config, path, node = entries[0]
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int):
        return
    for call, argument in _written(code):
        value = call.constant(argument, 1 if argument == "batch_size" else None)
        if value is not None and isinstance(value.value, int) and not isinstance(value.value, bool):
            yield _found(code, call, argument, value.value, config, path, node)


def _written(code: Code) -> Iterator[tuple[Call, str]]:
    """Calls that set the batch size of a training."""
    loaders = code.calls("torch.utils.data.DataLoader")
    for call in loaders:
        shuffle = call.constant("shuffle", 2)
        if len(loaders) == 1 or (shuffle is not None and shuffle.value is True) or call.may_have("sampler"):
            yield call, "batch_size"
    for family in families():
        for call in code.calls(*family.calls) if family.name in TRAINER else ():
            yield call, "per_device_train_batch_size"


def _found(
    code: Code,
    call: Call,
    argument: str,
    value: int,
    config: ConfigFile,
    path: tuple[str, ...],
    node: ast.Constant,
) -> Finding:
    given = call.argument(argument, 1 if argument == "batch_size" else None)
    asked = [i for i in code.asked("batch_size") if i.relation == "eq"]
    category: Category = "deviation" if asked and all(i.value != value for i in asked) else CATEGORY
    number = str(node.value)
    dotted = ".".join(path)
    text = f"{argument} is {value} here and {dotted} ({number}, {config.site(node)}) is never read"
    return finding(
        SLUG, category, call.module, given.node if given is not None else call.node, text, asked=number,
        got=str(value), key="batch_size", argument=argument, related=(config.site(node),),
    )  # fmt: skip


_CODE = """
import yaml
from torch.utils.data import DataLoader

def main(data):
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    seed(config["seed"])
    loader = DataLoader(data, batch_size={size}, shuffle=True){mark}
    return loader
"""
_YAML = {"config.yaml": "seed: 1\ndata:\n  batch_size: 256\n"}
_HYDRA = """
import hydra
from torch.utils.data import DataLoader

@hydra.main(config_path=".", config_name="config")
def main(cfg):
    seed(cfg.seed)
    return DataLoader(data(), batch_size=64, shuffle=True)  # found

main()
"""
_OTHER = "import yaml\nprint(yaml.safe_load(open('config.yaml'))['data']['batch_size'])\n"
BAD = (Example(_CODE.format(size=64, mark="  # found"), _YAML), Example(_HYDRA, _YAML))
GOOD = (
    # Another program reads it.
    Example(_CODE.format(size=64, mark=""), {**_YAML, "eval.py": _OTHER}),
    Example(_CODE.format(size='config["data"]["batch_size"]', mark=""), _YAML),
    Example(_CODE.format(size=64, mark=""), {"config.yaml": "seed: 1\n"}),
    Example(_CODE.format(size=64, mark="\n    build(config)"), _YAML),
    Example(_CODE.format(size=64, mark='\n    other = config["data"]'), _YAML),
)
