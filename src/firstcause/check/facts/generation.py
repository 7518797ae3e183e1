"""How texts are generated: pipelines and their calls, the arguments of ``generate``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from firstcause.check.client_requests import requests
from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.table import generation
from firstcause.check.facts.values import value_of
from firstcause.check.reasons import reason

PIPELINE = ("transformers.pipeline", "transformers.pipelines.pipeline")
# What a pipeline's task is called where people ask for it.
TASKS = {
    "text-classification": "classification", "sentiment-analysis": "classification", "ner": "token_classification",
    "token-classification": "token_classification", "text-generation": "causal_lm", "text2text-generation": "seq2seq",
    "question-answering": "question_answering", "image-classification": "image_classification", "fill-mask": "masked_lm",
}  # fmt: skip
# What the arguments of a request to OpenAI's protocol set.
ASKED = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_new_tokens",
    "max_completion_tokens": "max_new_tokens",
    "max_output_tokens": "max_new_tokens",
    "n": "num_return_sequences",
}
_LANGUAGES = re.compile(r"^translation_[a-z]+_to_[a-z]+$")


def generation_facts(code: Code) -> Iterator[Fact]:
    """Facts of decoding from pipelines and ``generate``; of model, task and batch size from pipelines."""
    yield from _requests(code)
    if not code.imports("transformers"):
        return
    for made in code.calls(*PIPELINE):
        yield from _pipeline(made)
        for call in (made, *code.uses_of(made)):
            yield from _decoding(call, "pipeline")
            size = value_of(call, "batch_size")
            if size is not None and isinstance(size.value, int) and not code.trains():
                how = "pipeline(batch_size=)"
                yield Fact("batch_size", size.value, size.site, how, "batch_size", not size.overridable)
    for call in (*code.methods("generate"), *code.calls("transformers.GenerationConfig")):
        yield from _decoding(call, call.name.rpartition(".")[2])


def _requests(code: Code) -> Iterator[Fact]:
    """What is asked of a server in OpenAI's protocol."""
    for call in requests(code):
        for argument, key in ASKED.items():
            found = value_of(call, argument)
            if found is not None and isinstance(found.value, (int, float)):
                how = f"{call.name.lstrip('.')}({argument}=)"
                yield Fact(key, found.value, found.site, how, argument, not found.overridable)


def _decoding(call: Call, how: str) -> Iterator[Fact]:
    for argument, key in generation().items():
        found = value_of(call, argument)
        if found is not None and isinstance(found.value, bool if argument == "do_sample" else (int, float)):
            value = call.argument(argument)
            why = reason(call.module, value.node) if value is not None else ""
            yield Fact(
                key,
                found.value,
                found.site,
                f"{how}({argument}=)",
                argument,
                not found.overridable,
                True,
                why,
            )


def _pipeline(call: Call) -> Iterator[Fact]:
    task = value_of(call, "task", 0)
    if task is not None and isinstance(task.value, str):
        name = "translation" if _LANGUAGES.match(task.value) else TASKS.get(task.value, task.value)
        yield Fact("task", name, task.site, "pipeline(task=)", "task")
    name_of = value_of(call, "model", 1)
    if name_of is not None and isinstance(name_of.value, str):
        # Where something is trained, the pipeline may be tried on the result.
        tried = call.code.trains()
        yield Fact(
            "model",
            name_of.value,
            name_of.site,
            "pipeline(model=)",
            "model",
            sure=not name_of.overridable and not tried,
            reason=reason(call.module, call.node),
            confirms=tried,
        )
