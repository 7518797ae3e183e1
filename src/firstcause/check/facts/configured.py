"""Facts that stand beside the code: engines' configurations, launch lines, classes that a parser or Hydra fills."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code, shortest
from firstcause.check.constants import Constant, constant
from firstcause.check.facts.engines import (
    Configuration,
    accelerate_configurations,
    deepspeed_configurations,
    processes,
    table,
)
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import Family, families
from firstcause.source.configs.file import ConfigFile
from firstcause.source.configs.opened import find
from firstcause.source.configs.parsed import METHODS, classes, config_word
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.launch import concerning, given, launches
from firstcause.source.resolve import external, resolve
from firstcause.source.steps import Step

FLAGS = ("bf16", "fp16")
OPTIMIZER = {
    "lr": "learning_rate",
    "weight_decay": "weight_decay",
    "momentum": "momentum",
    "betas": "adam_betas",
}
LOADER = {"batch_size": "batch_size"}


def configured_facts(code: Code) -> Iterator[Fact]:
    """Facts of batch sizes, precision, ZeRO, offloading, devices, and of what options and Hydra's targets set."""
    if not code.project.configured:
        return
    yield from _deepspeed(code)
    yield from _accelerate(code)
    for launch in launches(code.project):
        started = processes(launch)
        if started is not None:
            how = f"{launch.launcher}'s number of processes"
            yield Fact("num_gpus", started[0], launch.file.site(started[1]), how)
    for call in code.methods(*(m.lstrip(".") for m in sorted(METHODS))):
        yield from _parsed(call)
    for call in code.calls("hydra.utils.instantiate", "hydra.utils.call"):
        yield from _instantiated(call)


def _deepspeed(code: Code) -> Iterator[Fact]:
    for one in deepspeed_configurations(code):
        yield from _entries(one, "deepspeed")
        for section, precision in (("fp16", "fp16"), ("bf16", "bf16"), ("bfloat16", "bf16")):
            enabled = one.enabled(section)
            if enabled is not None:
                yield Fact("precision", precision, enabled.site, f"DeepSpeed's {section}.enabled", precision)
        for part in ("offload_optimizer", "offload_param"):
            device = one.entry("zero_optimization", part, "device")
            if device is not None and device.value != "none":
                yield Fact("offload", device.value, device.site, f"DeepSpeed's {part}", part)


def _accelerate(code: Code) -> Iterator[Fact]:
    says_itself = any(
        c.may_have("mixed_precision") or any(c.may_have(f) for f in FLAGS)
        for c in [*code.calls("accelerate.Accelerator"), *_trainer_calls(code)]
    )
    for one in accelerate_configurations(code):
        yield from _entries(one, "accelerate")
        precision = one.entry("mixed_precision")
        if precision is not None and not says_itself:
            value = "no" if precision.value is False else precision.value
            yield Fact(
                "precision", normal("precision", value), precision.site, "accelerate's mixed_precision"
            )


def _trainer_calls(code: Code) -> list[Call]:
    return [c for f in families() if f.framework in ("trainer", "trl") for c in code.calls(*f.calls)]


def _entries(one: Configuration, engine: str) -> Iterator[Fact]:
    for path, key in table()[engine].items():
        names = tuple(path.split("."))
        found = one.entry(*names)
        if found is not None and not isinstance(found.value, (list, dict)):
            yield Fact(key, normal(key, found.value), found.site, f"{engine}'s {path}", names[-1])


def _parsed(call: Call) -> Iterator[Fact]:
    """The options by which launches and configs fill a library's arguments, through HfArgumentParser and its kin."""
    walk = new_walk(call.code.project)
    for kind, place in classes(walk, Value(call.module, call.node), call.node):
        name = shortest(external(resolve(call.code.project, place.module, kind)))
        family = next((f for f in families() if name in f.calls), None)
        if family is None:
            continue
        for argument, key in (*family.arguments.items(), *((f, "precision") for f in FLAGS)):
            for found in _options(call, argument):
                yield from _fact(family, argument, key, found)


def _options(call: Call, argument: str) -> Iterator[Constant]:
    """The values that launches give an option, or their config files."""
    project = call.code.project
    for launch in concerning(project, call.module):
        node = given(launch, argument)
        if node is not None:
            found = constant(project, Value(launch.file, node))
        else:
            config = config_word(new_walk(project), launch) or _config_option(
                call, launch.options.get("config")
            )
            path = (Step("item", argument),)
            found = constant(project, Value(config, config.root, None, path)) if config else None
        if found is not None and found.value is not None:
            yield found


def _config_option(call: Call, words: list[ast.expr] | None) -> ConfigFile | None:
    word = words[0] if words and len(words) == 1 else None
    if not isinstance(word, ast.Constant) or not isinstance(word.value, str):
        return None
    path = find(new_walk(call.code.project), call.module, word.value)
    return call.code.project.config(path) if path else None


def _fact(family: Family, argument: str, key: str, found: Constant) -> Iterator[Fact]:
    if argument in FLAGS:
        if found.value is True:
            yield Fact("precision", argument, found.site, f"--{argument}", argument)
        return
    yield Fact(key, normal(key, found.value), found.site, f"--{argument} of the {family.name}", argument)


def _instantiated(call: Call) -> Iterator[Fact]:
    """What Hydra builds from a node with ``_target_``: the arguments are the node's other entries."""
    config = call.argument("config", 0)
    if config is None:
        return
    one = Configuration(call.code.project, config)
    target = one.entry("_target_")
    if target is None or not isinstance(target.value, str):
        return
    name = shortest(target.value)
    family = next((f for f in families() if name in f.calls), None)
    arguments = family.arguments if family is not None else {}
    if name.startswith("torch.optim.") and name.count(".") == 2:
        yield Fact("optimizer", normal("optimizer", name.rpartition(".")[2]), target.site, name)
        arguments = OPTIMIZER
    elif (
        name == "torch.utils.data.DataLoader" and (shuffle := one.entry("shuffle")) and shuffle.value is True
    ):
        arguments = LOADER
    for argument, key in arguments.items():
        found = one.entry(argument)
        if found is not None and not call.may_have(argument):
            yield Fact(key, normal(key, found.value), found.site, f"{name}({argument}=)", argument)
