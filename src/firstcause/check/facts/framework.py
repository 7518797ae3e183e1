"""What drives the run: a library's trainer or engine, or a loop of the user's own."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.events import events, training_loops
from firstcause.check.facts.fact import Fact

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


def framework_facts(code: Code) -> Iterator[Fact]:
    """One fact of framework for each that the code runs on; a loop of its own where no library's trainer drives it."""
    found: list[tuple[str, Call]] = [
        (name, c) for name, calls in TRAINERS.items() for c in code.calls(*calls)[:1]
    ]
    found += [("trainer", c) for base in ("transformers.Trainer",) for c in _derived(code, base)]
    for name, call in found:
        yield Fact("framework", name, call.site, call.name)
    driven = {name for name, _ in found} & {"trainer", "trl", "lightning"}
    loops = [loop for loop in training_loops(code) if any(e.kind == "backward" for e in events(code, loop))]
    if loops and not driven:
        first = loops[0]
        yield Fact("framework", "pytorch", first.module.site(first.node), "a loop of its own", explicit=False)
    generated = [c for c in code.methods("generate") if not found]
    if generated and not loops and code.imports("transformers"):
        yield Fact("framework", "transformers", generated[0].site, "generate")


def _derived(code: Code, base: str) -> list[Call]:
    names = {d.node.name for d in code.subclasses_of(base)}
    return [c for name in sorted(names) for c in code.own_calls(name)]
