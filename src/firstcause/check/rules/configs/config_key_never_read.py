"""An entry of a config that the code never asks for.

Why: it looks like a setting and sets nothing; what was meant by it stays as it is.
Refuted by: its name anywhere in the code, a mapping around it that is handed on whole, an interpolation that names it.
Holds for: hydra, omegaconf, yaml, json and toml, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code
from firstcause.check.config_reads import config_reads, unread
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "config-key-never-read"
CATEGORY: Category = "suggestion"
HOLDS: Mapping[str, str] = {}

# So many unread entries of one file mean that the file is read by something else.
MAX_UNREAD = 8


def find(code: Code) -> Iterator[Finding]:
    configs = {c.path: c for r in config_reads(code).read for c in r.configs}
    for config in configs.values():
        found = unread(code, config)
        for path, node in found if len(found) <= MAX_UNREAD else ():
            name = ".".join(path)
            text = f"nothing reads {name}: to change it does nothing; use it in the code or take it out"
            yield Finding(SLUG, CATEGORY, config.site(node), text, got=name, argument=path[-1])


_CODE = """
import yaml

with open("config.yaml") as file:
    config = yaml.safe_load(file)
train(config["lr"]{more})
"""
_YAML = {"config.yaml": "lr: 0.1\nwarmup: 10  # found\n"}
_PLAIN = {"config.yaml": "lr: 0.1\nwarmup: 10\n"}
BAD = (
    Example(_CODE.format(more=""), _YAML),
    Example(
        _CODE.format(more=', config["optim"]["wd"]'),
        {"config.yaml": "lr: 0.1\noptim:\n  wd: 0.1\n  eps: 1.0  # found\n"},
    ),
)
GOOD = (
    Example(
        _CODE.format(more=""),
        {**_PLAIN, "eval.py": "import yaml\nprint(yaml.safe_load(open('config.yaml'))['warmup'])\n"},
    ),
    Example(_CODE.format(more=', config["warmup"]'), _PLAIN),
    Example(_CODE.format(more=", **config"), _PLAIN),
    Example(_CODE.format(more=", config[name]"), _PLAIN),
    Example(_CODE.format(more=', config["a"]'), {"config.yaml": "lr: 0.1\na: {warmup: 10}\n"}),
)
