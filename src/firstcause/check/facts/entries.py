"""Entries of config files that the code opens and whose use cannot be followed, by names that mean one thing only.

A dispatcher that goes through a mapping (``for name, flag in FLAGS.items()``) hides which entry becomes which option; the
entry's own name still says it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.source.configs.lookup import named
from firstcause.source.flow import new_walk

# What serving and decoding are set by, as the options of vLLM, SGLang and OpenAI's protocol are called and shortened.
NAMES = {
    "num_gpus": re.compile(r"^(tensor_parallel(_size)?|tp(_size)?)$"),
    "max_model_len": re.compile(r"^(max_model_len|context(_len(gth)?)?|max_context(_len(gth)?)?)$"),
    "gpu_memory_utilization": re.compile(r"^(gpu_)?mem(ory)?(_(util(ization)?|fraction(_static)?|share))?$"),
    "temperature": re.compile(r"^temperature$"),
    "top_p": re.compile(r"^top_p$"),
    "top_k": re.compile(r"^top_k$"),
    "max_new_tokens": re.compile(r"^max_(new_|completion_|output_)?tokens$"),
    "repetition_penalty": re.compile(r"^repetition_penalty$"),
    "model": re.compile(r"^(model(_name|_id|_path)?|checkpoint)$"),
}
PATHS = {
    "input_path": re.compile(r"^(source|input|inputs|in_dir|input_(dir|path|file))$"),
    "output_path": re.compile(r"^(target|output|outputs|out|out_dir|output_(dir|path|file))$"),
}
ENGINES = ("vllm", "sglang")


def entry_facts(code: Code, stated: set[str]) -> Iterator[Fact]:
    """Facts of serving that were asked for and that the code states nowhere else; paths only confirm.

    ``stated`` are the keys of the facts that are known. Only for programs that run on an engine of inference.
    """
    wanted = {k: p for k, p in {**NAMES, **PATHS}.items() if k not in stated and code.asked(k)}
    if not wanted or not any(i.value in ENGINES for i in code.asked("framework")):
        return
    for config in named(new_walk(code.project)):
        for path, node in config.nodes_by_path.items():
            value = node.value if isinstance(node, ast.Constant) else None
            key = next((k for k, p in wanted.items() if path and p.match(path[-1].lower())), None)
            if key is not None and value is not None and not isinstance(value, bool):
                how = f"{'.'.join(path)} of {config.name}"
                site = config.site(node)
                yield Fact(key, normal(key, value), site, how, path[-1], sure=True, confirms=key in PATHS)
