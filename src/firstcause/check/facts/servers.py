"""Servers that shell scripts start: ``vllm serve``, ``sglang.launch_server``, with the options of their engines."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import families
from firstcause.source.launch import Launch, servers
from firstcause.source.project import Project

FAMILY = {"vllm": "vllm engine", "sglang": "sglang engine"}
# Other names of the same options.
SHORT = {"tp": "tp_size", "tensor_parallel": "tensor_parallel_size", "model": "model_path"}


def server_facts(project: Project) -> Iterator[Fact]:
    """Facts of framework, model, num_gpus and lengths of each server that a script of the project starts."""
    for launch in servers(project):
        family = next(f for f in families() if f.name == FAMILY[launch.launcher])
        yield Fact(
            "framework", launch.launcher, launch.file.site(launch.words[0]), f"{launch.launcher}'s server"
        )
        if launch.served is not None:
            yield Fact("model", launch.script, launch.file.site(launch.served), "the served model", "model")
        for option, words in launch.options.items():
            name = option if option in family.arguments else SHORT.get(option, option)
            key = family.arguments.get(name)
            if key is not None and len(words) == 1:
                yield from _fact(launch, key, name, words[0])


def _fact(launch: Launch, key: str, name: str, node: ast.expr) -> Iterator[Fact]:
    if isinstance(node, ast.Constant):
        yield Fact(
            key, normal(key, node.value), launch.file.site(node), f"--{name} of {launch.launcher}", name
        )
