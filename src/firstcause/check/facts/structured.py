"""What an engine is held to when it writes, and the sampling parameters that SGLang takes as a mapping."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from firstcause.check.client_requests import plain_requests
from firstcause.check.code import Call, Code
from firstcause.check.engines import generations
from firstcause.check.facts.engines import Configuration
from firstcause.check.facts.fact import Fact
from firstcause.check.spread_arguments import named_arguments
from firstcause.source.callsites import last_name
from firstcause.source.frames import Value
from firstcause.source.steps import Step

# Arguments by which vllm, sglang and servers are held to a form, and the form.
FORMS = {
    "json": "json_schema", "json_schema": "json_schema", "guided_json": "json_schema", "json_object": "json",
    "choice": "choice", "guided_choice": "choice", "regex": "regex", "guided_regex": "regex", "grammar": "grammar",
    "guided_grammar": "grammar", "ebnf": "grammar", "structural_tag": "json_schema",
}  # fmt: skip
# What ``response_format`` of OpenAI's protocol is told.
TYPES = {"json_schema": "json_schema", "json_object": "json", "structural_tag": "json_schema"}
HOLDING = frozenset({*FORMS, "structured_outputs", "guided_decoding", "response_format"})
# Arguments by which a request may be held to a form in another way.
MAY_HOLD = ("response_format", "tools", "tool_choice", "functions", "text", "text_format")
HOLDERS = ("vllm.GuidedDecodingParams", "vllm.StructuredOutputsParams")
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
    yield from _of_requests(code)
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


def _of_requests(code: Code) -> Iterator[Fact]:
    """What requests to a server are held to, and that none of them is where that was asked for."""
    calls = plain_requests(code)
    found: list[Fact] = []
    for call in calls:
        form = _named(call, "response_format")
        if form is not None:
            settings = Configuration(code.project, form)
            kind = settings.entry("type")
            # A class of pydantic's is a schema.
            held = (
                TYPES.get(str(kind.value)) if kind is not None else "json_schema" if _is_class(form) else None
            )
            if held is not None:
                found.append(Fact("structured_output", held, call.site, "response_format", "response_format"))
        body = call.argument("extra_body")
        if body is not None:
            settings = Configuration(code.project, body)
            found += _of_mapping(settings, "extra_body")
            for name in ("structured_outputs", "guided_decoding"):
                if settings.item(name) is not None:
                    inner = replace(body, path=(*body.path, Step("item", name)))
                    found += _of_mapping(Configuration(code.project, inner), name)
    yield from found
    free = [c for c in calls if not (any(c.may_have(name) for name in MAY_HOLD) or _body_may_hold(c))]
    if calls and len(free) == len(calls) and not found and code.asked("structured_output"):
        how = "no response_format in the request"
        yield Fact("structured_output", "none", calls[0].site, how, "response_format", explicit=False)


def _named(call: Call, name: str) -> Value | None:
    """What a call is given by a name, or by a mapping that it spreads and the code writes out: ``**DECODING``."""
    given = [Value(module, node) for one, module, node in named_arguments(call) if one == name]
    return given[0] if len(given) == 1 else call.argument(name)


def _is_class(value: Value) -> bool:
    return isinstance(value.node, (ast.Name, ast.Attribute)) and last_name(value.node)[:1].isupper()


def _body_may_hold(call: Call) -> bool:
    """Whether an ``extra_body`` may hold the server to a form: one that is not written out, or names one."""
    body = call.argument("extra_body")
    if body is None:
        return call.may_have("extra_body")
    names = {k.value for k in getattr(body.node, "keys", ()) if isinstance(k, ast.Constant)}
    return not isinstance(body.node, ast.Dict) or None in body.node.keys or bool(names & HOLDING)


def _held(call: Call) -> Iterator[Fact]:
    for name, form in FORMS.items():
        if any(k.arg == name for k in call.node.keywords):
            yield Fact("structured_output", form, call.site, f"{call.name.rpartition('.')[2]}({name}=)", name)


def _of_mapping(settings: Configuration, owner: str) -> Iterator[Fact]:
    for name, form in FORMS.items():
        found = settings.item(name)
        if found is not None:
            yield Fact("structured_output", form, found, f"{owner}[{name!r}]", name)
