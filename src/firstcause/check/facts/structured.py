"""What an engine is held to when it writes, and the sampling parameters that SGLang takes as a mapping."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.engines import generations
from firstcause.check.facts.engines import Configuration
from firstcause.check.facts.fact import Fact

# Arguments by which vllm, sglang and servers are held to a form, and the form.
FORMS = {
    "json": "json_schema", "json_schema": "json_schema", "guided_json": "json_schema", "json_object": "json",
    "choice": "choice", "guided_choice": "choice", "regex": "regex", "guided_regex": "regex", "grammar": "grammar",
    "guided_grammar": "grammar", "ebnf": "grammar", "structural_tag": "json_schema",
}  # fmt: skip
HOLDERS = (
    "vllm.sampling_params.StructuredOutputsParams",
    "vllm.sampling_params.GuidedDecodingParams",
    "vllm.StructuredOutputsParams",
)
SGLANG = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_new_tokens": "max_new_tokens",
    "n": "num_return_sequences",
    "repetition_penalty": "repetition_penalty",
}


def structured_facts(code: Code) -> Iterator[Fact]:
    """Facts of structured_output, and of decoding on SGLang."""
    for call in code.calls(*HOLDERS):
        yield from _held(call)
    for call in code.calls("vllm.SamplingParams"):
        for name in ("structured_outputs", "guided_decoding"):
            value = call.argument(name)
            if value is not None:
                yield from _of_mapping(Configuration(code.project, value), name)
    for one in generations(code):
        value = one.call.argument("sampling_params", 1) if one.kind == "sglang" else None
        if value is None:
            continue
        settings = Configuration(code.project, value)
        yield from _of_mapping(settings, "sampling_params")
        for name, key in SGLANG.items():
            found = settings.entry(name)
            if found is not None and isinstance(found.value, (int, float)):
                yield Fact(
                    key, found.value, found.site, f"sampling_params[{name!r}]", name, not found.overridable
                )


def _held(call: Call) -> Iterator[Fact]:
    for name, form in FORMS.items():
        if any(k.arg == name for k in call.node.keywords):
            yield Fact("structured_output", form, call.site, f"{call.name.rpartition('.')[2]}({name}=)", name)


def _of_mapping(settings: Configuration, owner: str) -> Iterator[Fact]:
    for name, form in FORMS.items():
        found = settings.item(name)
        if found is not None:
            yield Fact("structured_output", form, found, f"{owner}[{name!r}]", name)
