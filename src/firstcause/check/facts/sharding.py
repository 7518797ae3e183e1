"""What a sharded training recomputes by its own settings: FSDP's activation checkpointing, of the Trainer or a plugin."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.engines import TRAINER, named_configurations
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.table import families
from firstcause.check.spread_arguments import named_arguments

KEY = "gradient_checkpointing"
ENTRIES = ("activation_checkpointing", "fsdp_activation_checkpointing")
PLUGINS = ("accelerate.FullyShardedDataParallelPlugin", "accelerate.utils.FullyShardedDataParallelPlugin")
STRATEGIES = ("lightning.FSDPStrategy", "lightning.strategies.FSDPStrategy")
WRAPPERS = (
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.apply_activation_checkpointing",
    "torch.distributed.fsdp.wrap.apply_activation_checkpointing",
)


def sharding_facts(code: Code) -> Iterator[Fact]:
    """Facts of gradient_checkpointing that stand in the settings of FSDP."""
    for call in code.calls(*(c for f in families() if f.name in TRAINER for c in f.calls)):
        given = call.argument("fsdp_config")
        for one in named_configurations(code.project, given) if given is not None else ():
            for name in ENTRIES:
                found = one.entry(name)
                if found is not None and isinstance(found.value, bool):
                    yield Fact(KEY, found.value, found.site, f"fsdp_config's {name}", name)
    for call in code.calls(*PLUGINS):
        value = call.constant("activation_checkpointing")
        if value is not None and isinstance(value.value, bool):
            yield Fact(KEY, value.value, value.site, call.name.rpartition(".")[2], "activation_checkpointing")
    for call in code.calls(*STRATEGIES):
        if any(_says(call, name) for name in ("activation_checkpointing_policy", "activation_checkpointing")):
            yield Fact(KEY, True, call.site, "FSDPStrategy", confirms=True)
    for call in code.calls(*WRAPPERS):
        yield Fact(KEY, True, call.site, call.name.rpartition(".")[2])


def _says(call: Call, name: str) -> bool:
    """Whether a call surely gives an argument something that is not nothing."""
    for given, module, node in named_arguments(call):
        if given == name:
            known = call.code.constant(module, node)
            return known is None or bool(known.value)
    return False
