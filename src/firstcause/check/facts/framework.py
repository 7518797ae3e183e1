"""What drives the run: a library's trainer or engine, or a loop of the user's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.events import events, training_loops
from firstcause.check.facts.fact import Fact
from firstcause.check.generation import token_loops
from firstcause.schema.site import Site
from firstcause.source.module import Module

TRAINERS = {
    "trainer": ("transformers.Trainer", "transformers.Seq2SeqTrainer"),
    "trl": tuple(
        f"trl.{n}Trainer" for n in ("SFT", "DPO", "GRPO", "KTO", "ORPO", "Reward", "PPO", "RLOO", "CPO")
    ),
    "lightning": ("lightning.Trainer", "lightning.Fabric"),
    "accelerate": ("accelerate.Accelerator",),
    "vllm": ("vllm.LLM", "vllm.AsyncLLMEngine", "vllm.LLMEngine"),
    "sglang": ("sglang.Engine", "sglang.Runtime"),
    "deepspeed": ("deepspeed.initialize",),
}
WRAPPERS = {
    "torch.nn.parallel.DistributedDataParallel": "ddp",
    "torch.distributed.fsdp.FullyShardedDataParallel": "fsdp",
    "torch.distributed.fsdp.fully_shard": "fsdp",
}


def framework_facts(code: Code) -> Iterator[Fact]:
    """One fact of framework for each that the code runs on; a loop of its own where no library's trainer drives it."""
    found: list[tuple[str, Call]] = [
        (name, c) for name, calls in TRAINERS.items() for c in code.calls(*calls)[:1]
    ]
    found += [(name, c) for name, calls in TRAINERS.items() for base in calls for c in _derived(code, base)]
    for name, call in found:
        yield Fact("framework", name, call.site, call.name)
    for wrapper, name in WRAPPERS.items():
        for call in code.calls(wrapper)[:1]:
            yield Fact("distributed", name, call.site, call.name, sure=False, confirms=True)
    driven = {name for name, _ in found} & {"trainer", "trl", "lightning"}
    loops = [loop for loop in training_loops(code) if any(e.kind == "backward" for e in events(code, loop))]
    if loops and not driven:
        first = loops[0]
        yield Fact("framework", "pytorch", first.module.site(first.node), "a loop of its own", explicit=False)
    generated = [c for c in code.methods("generate") if not found]
    for written in (
        token_loops(code)[:1]
        if not found and not loops and not generated and code.imports("transformers")
        else ()
    ):
        yield Fact(
            "framework",
            "transformers",
            _import_of(code, written.loop.module),
            "a loop over tokens of its own",
        )
    for call in code.calls("transformers.pipeline", "transformers.pipelines.pipeline")[:1]:
        if not found and not loops:
            yield Fact("framework", "transformers", _import_of(code, call.module), "pipeline")
    if generated and not loops and code.imports("transformers"):
        yield Fact("framework", "transformers", _import_of(code, generated[0].module), "generate")


def _import_of(code: Code, module: Module) -> Site:
    """Where the library comes in: the line to change first."""
    of = [n for n in module.nodes(ast.ImportFrom) if (n.module or "").partition(".")[0] == "transformers"]
    plain = [
        n
        for n in module.nodes(ast.Import)
        if any(a.name.partition(".")[0] == "transformers" for a in n.names)
    ]
    return next((module.site(n) for n in (*of, *plain)), Site(module.name, 1))


def _derived(code: Code, base: str) -> list[Call]:
    names = {d.node.name for d in code.subclasses_of(base)}
    return [c for name in sorted(names) for c in code.own_calls(name)]
