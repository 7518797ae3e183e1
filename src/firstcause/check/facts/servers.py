"""Servers that shell scripts start: ``vllm serve``, ``sglang.launch_server``, with the options of their engines."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import families
from firstcause.source.configs.file import ConfigFile
from firstcause.source.configs.opened import find
from firstcause.source.flow import new_walk
from firstcause.source.launch import Launch, servers
from firstcause.source.project import Project
from firstcause.source.shell import text_of

FAMILY = {"vllm": "vllm engine", "sglang": "sglang engine"}
# Other names of the same options.
# The script's own folder, as shells say it.
_BESIDE = re.compile(r"^\$\(dirname [^()]*\)/|^\$\{?SCRIPT_DIR\}?/|^\./")
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
        for config in _configs(project, launch):
            for path, entry in config.entries.items():
                name = path[0].replace("-", "_")
                name = name if name in family.arguments else SHORT.get(name, name)
                key = family.arguments.get(name)
                # What the line says too comes before it.
                if key is not None and len(path) == 1 and name not in launch.options:
                    site = config.site(config.nodes_by_path[path])
                    yield Fact(
                        key, normal(key, entry.value), site, f"{config.name} of {launch.launcher}", name
                    )


def _fact(launch: Launch, key: str, name: str, node: ast.expr) -> Iterator[Fact]:
    if isinstance(node, ast.Constant):
        yield Fact(
            key, normal(key, node.value), launch.file.site(node), f"--{name} of {launch.launcher}", name
        )


def _configs(project: Project, launch: Launch) -> Iterator[ConfigFile]:
    """The YAML that ``--config`` names."""
    texts = [text_of(word) for word in launch.words]
    named = [following for word, following in itertools.pairwise(texts) if word == "--config"]
    named += [text.partition("=")[2] for text in texts if text.startswith("--config=")]
    for text in named:
        path = find(new_walk(project), launch.file, _BESIDE.sub("", text))
        config = project.config(path) if path else None
        if config is not None:
            yield config
