"""Facts that stand beside the code: engines' configurations, launch lines, classes that a parser or Hydra fills."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.catalog.toml import check_table
from firstcause.check.code import Call, Code
from firstcause.check.config_reads import config_reads
from firstcause.check.facts.engines import (
    Configuration,
    accelerate_configurations,
    deepspeed_configurations,
    processes,
)
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.filled import filled_facts
from firstcause.check.facts.named import NAMES
from firstcause.check.facts.normal import normal
from firstcause.check.facts.servers import server_facts
from firstcause.check.facts.table import families
from firstcause.source.configs.hydra import MAIN
from firstcause.source.launch import launches

FLAGS = ("bf16", "fp16")
STRATEGIES = {"FSDP": "fsdp", "DEEPSPEED": "deepspeed", "MULTI_GPU": "ddp"}
# Where accelerate's file says what is moved out of the device's memory.
OFFLOADS = (
    ("deepspeed_config", "offload_optimizer_device"),
    ("deepspeed_config", "offload_param_device"),
    ("fsdp_config", "fsdp_offload_params"),
)


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
    yield from _read(code)
    yield from _hydra(code)
    yield from server_facts(code.project)
    yield from filled_facts(code)


def _hydra(code: Code) -> Iterator[Fact]:
    """That Hydra runs the program, where that was asked for: it drives no training, so it is no framework by itself."""
    if any(i.value == "hydra" for i in code.asked("framework")):
        for call in code.calls(*MAIN)[:1]:
            yield Fact("framework", "hydra", call.site, "hydra.main")


def _read(code: Code) -> Iterator[Fact]:
    """Entries of configs that the code reads and whose names say what they are; they only confirm, as names do."""
    for read in config_reads(code).read:
        key = next((k for k, pattern in NAMES.items() if pattern.match(read.name.lower())), None)
        found = code.constant(read.module, read.node) if key is not None else None
        if key is not None and found is not None and isinstance(found.value, (int, float)):
            how = f"{read.name} of {read.configs[0].name}"
            yield Fact(key, found.value, found.site, how, sure=False, confirms=True)


def _deepspeed(code: Code) -> Iterator[Fact]:
    for one in deepspeed_configurations(code):
        yield from _entries(one, "deepspeed")
        for section, precision in (("fp16", "fp16"), ("bf16", "bf16"), ("bfloat16", "bf16")):
            enabled = one.enabled(section)
            if enabled is not None:
                yield Fact("precision", precision, enabled.site, f"DeepSpeed's {section}.enabled", precision)
        parts = ("offload_optimizer", "offload_param")
        devices = [(p, d) for p in parts if (d := one.entry("zero_optimization", p, "device")) is not None]
        moved = [(part, device) for part, device in devices if device.value != "none"]
        # That nothing is moved is worth a word where moving was asked for.
        for part, device in moved or (devices[:1] if code.asked("offload") else []):
            yield Fact("offload", device.value, device.site, f"DeepSpeed's {part}", part)


def _accelerate(code: Code) -> Iterator[Fact]:
    says_itself = any(
        c.may_have("mixed_precision") or any(c.may_have(f) for f in FLAGS)
        for c in [*code.calls("accelerate.Accelerator"), *_trainer_calls(code)]
    )
    launched = [x for x in launches(code.project) if x.launcher == "accelerate"]
    precise = False
    for launch in launched:
        for option, key in check_table("configs")["accelerate_options"].items():
            words = launch.launcher_options.get(option, ())
            if len(words) != 1 or not isinstance(words[0], ast.Constant):
                continue
            precise = precise or key == "precision"
            if key != "precision" or not says_itself:
                value = option if words[0].value is True and key == "precision" else words[0].value
                how = f"accelerate launch --{option}"
                yield Fact(key, normal(key, value), launch.file.site(words[0]), how, option)
    configurations = accelerate_configurations(code)
    if any(i.value == "accelerate" and i.polarity == "require" for i in code.asked("framework")):
        # It launches what another class drives, as the Trainer does on top of it.
        sites = [x.file.site(x.words[0]) for x in launched] + [
            kind.site for c in configurations if (kind := c.entry("distributed_type")) is not None
        ]
        yield from (Fact("framework", "accelerate", s, "accelerate launch", confirms=True) for s in sites[:1])
    for one in configurations:
        yield from _entries(one, "accelerate")
        devices = [(n[-1], d) for n in OFFLOADS if (d := one.entry(*n)) is not None]
        moved = [(name, d) for name, d in devices if d.value not in ("none", False)]
        for name, device in moved or (devices[:1] if code.asked("offload") else []):
            place = {True: "cpu", False: "none"}.get(device.value, device.value)
            yield Fact("offload", place, device.site, f"accelerate's {name}", name)
        kind = one.entry("distributed_type")
        if kind is not None and kind.value in STRATEGIES:
            how = "accelerate's distributed_type"
            yield Fact("distributed", STRATEGIES[kind.value], kind.site, how, confirms=True)
        precision = one.entry("mixed_precision")
        if precision is not None and not says_itself and not precise:
            value = "no" if precision.value is False else precision.value
            yield Fact(
                "precision", normal("precision", value), precision.site, "accelerate's mixed_precision"
            )


def _trainer_calls(code: Code) -> list[Call]:
    return [c for f in families() if f.framework in ("trainer", "trl") for c in code.calls(*f.calls)]


def _entries(one: Configuration, engine: str) -> Iterator[Fact]:
    for path, key in check_table("configs")[engine].items():
        names = tuple(path.split("."))
        found = one.entry(*names)
        if found is not None and not isinstance(found.value, (list, dict)):
            yield Fact(key, normal(key, found.value), found.site, f"{engine}'s {path}", names[-1])
