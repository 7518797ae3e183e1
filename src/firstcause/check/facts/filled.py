"""Facts of objects that a parser, LightningCLI or Hydra fills from launches and config files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.check.code import Call, Code
from firstcause.check.constants import Constant, constant
from firstcause.check.facts.engines import Configuration
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import Family, families
from firstcause.check.library_names import shortest
from firstcause.source.configs.parsed import METHODS, classes, config_word, named_config, option_config
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.launch import concerning, given
from firstcause.source.resolve import external, resolve
from firstcause.source.steps import Step

FLAGS = ("bf16", "fp16")
# Options of which "none" is a value.
NONE_IS_A_WORD = frozenset({"report_to", "eval_strategy", "save_strategy"})
OPTIMIZER = {
    "lr": "learning_rate",
    "weight_decay": "weight_decay",
    "momentum": "momentum",
    "betas": "adam_betas",
}
LOADER = {"batch_size": "batch_size"}
MAX_TARGETS_DEEP = 3
LIGHTNING = ("lightning.cli.LightningCLI", "lightning.LightningCLI")


def filled_facts(code: Code) -> Iterator[Fact]:
    """Facts of training arguments, trainers and optimizers whose values stand outside of the code."""
    for call in code.methods(*(m.lstrip(".") for m in sorted(METHODS))):
        yield from _parsed(call)
    for call in code.calls("hydra.utils.instantiate", "hydra.utils.call"):
        yield from _instantiated(call)
    for call in code.calls(*LIGHTNING):
        yield from _lightning(call)


def _lightning(call: Call) -> Iterator[Fact]:
    """What the file says with which LightningCLI is launched: its trainer, its seed, its optimizer."""
    walk = new_walk(call.code.project)
    family = next(f for f in families() if f.name == "lightning trainer")
    for launch in concerning(call.code.project, call.module):
        config = option_config(walk, launch)
        if config is None:
            continue
        one = Configuration(call.code.project, Value(config, config.root))
        entries: dict[tuple[str, ...], str] = {("seed_everything",): "seed"}
        entries |= {("trainer", a): k for a, k in family.arguments.items()}
        entries |= {("optimizer", "init_args", a): k for a, k in OPTIMIZER.items()}
        for names, key in entries.items():
            found = one.entry(*names)
            if found is not None:
                yield Fact(
                    key,
                    normal(key, found.value),
                    found.site,
                    f"{'.'.join(names)} of {config.name}",
                    names[-1],
                )


def parsed(code: Code) -> Iterator[tuple[Call, Family]]:
    """The parsers that fill a library's arguments from launches and configs, HfArgumentParser and its kin."""
    for call in code.methods(*(m.lstrip(".") for m in sorted(METHODS))):
        yield from ((call, family) for family in _filled(call))


def _filled(call: Call) -> Iterator[Family]:
    walk = new_walk(call.code.project)
    for kind, place in classes(walk, Value(call.module, call.node), call.node):
        name = shortest(external(resolve(call.code.project, place.module, kind)))
        family = next((f for f in families() if name in f.calls), None)
        if family is not None:
            yield family


def _parsed(call: Call) -> Iterator[Fact]:
    for family in _filled(call):
        for argument, key in (*family.arguments.items(), *((f, "precision") for f in FLAGS)):
            for found in options(call, argument):
                yield from _fact(family, argument, key, found)


def options(call: Call, argument: str) -> Iterator[Constant]:
    """The values that launches give an option, or their config files."""
    project = call.code.project
    path = (Step("item", argument),)
    named = named_config(new_walk(project), Value(call.module, call.node), call.node)
    if named is not None:
        found = constant(project, Value(named, named.root, None, path))
        if found is not None and found.value is not None:
            yield found
        return
    for launch in concerning(project, call.module):
        node = given(launch, argument)
        if node is not None:
            found = constant(project, Value(launch.file, node))
            if found is not None and found.value is None and argument in NONE_IS_A_WORD:
                found = replace(found, value="none")
        else:
            walk = new_walk(project)
            config = config_word(walk, launch) or option_config(walk, launch)
            found = constant(project, Value(config, config.root, None, path)) if config else None
        if found is not None and found.value is not None:
            yield found


def _fact(family: Family, argument: str, key: str, found: Constant) -> Iterator[Fact]:
    if argument in FLAGS:
        if found.value is True:
            yield Fact("precision", argument, found.site, f"--{argument}", argument)
        return
    yield Fact(key, normal(key, found.value), found.site, f"--{argument} of the {family.name}", argument)


def _instantiated(call: Call) -> Iterator[Fact]:
    config = call.argument("config", 0)
    if config is not None:
        given = frozenset(k.arg for k in call.node.keywords if k.arg)
        yield from _built(Configuration(call.code.project, config), given, MAX_TARGETS_DEEP)


def _built(one: Configuration, given: frozenset[str], depth: int) -> Iterator[Fact]:
    """What Hydra builds from a node with ``_target_`` and from those within it: the arguments are its other entries."""
    target = one.entry("_target_")
    name = shortest(target.value) if target is not None and isinstance(target.value, str) else ""
    family = next((f for f in families() if name in f.calls), None)
    arguments = family.arguments if family is not None else {}
    if target is not None and name.startswith("torch.optim.") and name.count(".") == 2:
        yield Fact("optimizer", normal("optimizer", name.rpartition(".")[2]), target.site, name)
        arguments = OPTIMIZER
    elif (
        name == "torch.utils.data.DataLoader" and (shuffle := one.entry("shuffle")) and shuffle.value is True
    ):
        arguments = LOADER
    for argument, key in arguments.items():
        found = one.entry(argument) if argument not in given else None
        if found is not None:
            yield Fact(key, normal(key, found.value), found.site, f"{name}({argument}=)", argument)
    for inner in one.mappings() if depth else ():
        yield from _built(inner, frozenset(), depth - 1)
