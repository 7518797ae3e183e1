"""Engines and models that generate text, and the calls that make them do it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from firstcause.check.code import Call, Code, Loop
from firstcause.check.loaded import loaded_class
from firstcause.check.makers import first_maker
from firstcause.source.callsites import last_name

EngineKind = Literal["vllm", "sglang", "pipeline", "transformers"]
ENGINES: dict[str, EngineKind] = {
    "vllm.LLM": "vllm",
    "sglang.Engine": "sglang",
    "transformers.pipeline": "pipeline",
    "transformers.pipelines.pipeline": "pipeline",
}
# Tasks whose pipelines write text.
WRITING = ("text-generation", "text2text-generation", "summarization", "image-text-to-text", "any-to-any")


@dataclass(frozen=True, eq=False)
class Generation:
    """One call that generates, on what kind of engine, and the call that made that engine."""

    call: Call
    kind: EngineKind
    engine: Call


def generations(code: Code) -> list[Generation]:
    """Every call that generates on an engine, a pipeline, or a model of transformers that the program loads."""
    known: list[Generation] | None = code.project.memory.get("generations")
    if known is None:
        known = [*_of_methods(code), *_of_pipelines(code)]
        code.project.memory["generations"] = known
    return known


def _of_methods(code: Code) -> list[Generation]:
    found = []
    for call in code.methods("generate", "chat"):
        made = first_maker(code, call.module, call.receiver) if call.receiver is not None else None
        if made is None:
            continue
        if made.name in ENGINES:
            found.append(Generation(call, ENGINES[made.name], made))
        elif made.name.endswith("from_pretrained") and call.name == ".generate":
            found.append(Generation(call, "transformers", made))
    return found


def _of_pipelines(code: Code) -> list[Generation]:
    found = []
    for name in ("transformers.pipeline", "transformers.pipelines.pipeline"):
        for made in code.calls(name):
            found += [Generation(use, "pipeline", made) for use in code.uses_of(made)]
    return found


def writes_text(one: Generation) -> bool:
    """Whether a generation surely is of text, by a decoder or an engine of texts."""
    if one.kind == "pipeline":
        task = one.engine.constant("task", 0)
        return task is not None and task.value in WRITING
    return one.kind != "transformers" or "ForCausalLM" in loaded_class(one.engine)


def tokenized(one: Generation) -> Call | None:
    """The tokenizer's call that makes what a model of transformers generates from; None where something else does."""
    call = one.call
    given = [k.value for k in call.node.keywords if k.arg in (None, "input_ids", "inputs")]
    for value in [*given, *call.node.args[:1]]:
        while isinstance(value, (ast.Attribute, ast.Subscript)):
            value = value.value
        made = first_maker(call.code, call.module, value)
        if made is not None and _tokenizes(made):
            return made
    return None


def _tokenizes(made: Call) -> bool:
    """Whether a tokenizer itself is called, or told to encode: by the name, or by what the name holds."""
    if last_name(made.node.func).lower() in ("tok", "tokenizer", "encode", "batch_encode_plus"):
        return True
    held = made.node.func if isinstance(made.node.func, ast.Name) else None
    maker = first_maker(made.code, made.module, held) if held is not None else None
    return maker is not None and "tokenizer" in maker.module.segment(maker.node.func).lower()


def loop_over(code: Code, call: Call) -> Loop | None:
    """The ``for`` loop whose body calls this, itself or through one function of the project."""
    looped = looped_call(code, call)
    return _for(looped) if looped is not None else None


def looped_call(code: Code, call: Call) -> Call | None:
    """The call in the body of a ``for`` loop by which this one is made each round: itself, or that of its function."""
    if _for(call) is not None:
        return call
    function = call.module.function(call.node)
    name = getattr(function, "name", "")
    sites = (
        [c for c in code.own_calls(name) if function in {d.node for d in code.callees_of(c)}] if name else []
    )
    looped = [c for c in sites if _for(c) is not None]
    return looped[0] if len(looped) == 1 else None


def _for(call: Call) -> Loop | None:
    """The innermost ``for`` loop whose body, and not what it goes over, holds the call."""
    loop = call.loop
    if loop is None or not isinstance(loop.node, ast.For):
        return None
    return loop if all(call.node is not n for n in ast.walk(loop.node.iter)) else None


def surely_without(call: Call, *names: str) -> bool:
    """Whether a call of generate gives none of these settings; ``**inputs`` of a tokenizer holds no settings."""
    starred = [k.value for k in call.node.keywords if k.arg is None]
    if any(k.arg in names for k in call.node.keywords):
        return False
    return all(_of_tokenizer(call, value) for value in starred) and len(call.node.args) < 2


def _of_tokenizer(call: Call, value: ast.expr) -> bool:
    """Whether a mapping is what a tokenizer or processor made."""
    made = first_maker(call.code, call.module, value)
    if made is None:
        return False
    maker = first_maker(call.code, made.module, made.node.func)
    text = maker.module.segment(maker.node.func) if maker is not None else made.module.segment(made.node.func)
    return any(word in text.lower() for word in ("tokenizer", "processor", "tok"))
