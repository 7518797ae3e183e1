"""A pipeline is asked for by a task that the library does not have any more.

Why: pipeline() raises KeyError; since version 5 generation of text by encoder-decoders has no pipeline of its own.
Refuted by: an older version that is pinned or installed.
Holds for: transformers since 5.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "removed-pipeline-task"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {"transformers": ">=5"}

# Read in the table of removed tasks of 5.24; what to do instead.
REMOVED = {
    "summarization": "text-generation with a chat model, or AutoModelForSeq2SeqLM and generate()",
    "translation": "text-generation with a chat model, or AutoModelForSeq2SeqLM and generate()",
    "text2text-generation": "AutoModelForSeq2SeqLM and generate()",
    # Gone since 4.42.
    "conversational": "text-generation, which takes messages",
    "question-answering": "AutoModelForQuestionAnswering, or text-generation",
    "visual-question-answering": "image-text-to-text",
    "vqa": "image-text-to-text",
    "image-to-image": "the diffusers library",
}
PIPELINES = ("transformers.pipeline", "transformers.pipelines.pipeline")


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls(*PIPELINES):
        task = call.constant("task", 0)
        if task is None or not isinstance(task.value, str):
            continue
        name = "translation" if task.value.startswith("translation_") else task.value
        if name in REMOVED:
            text = f"transformers 5 has no pipeline {task.value!r}; instead: {REMOVED[name]}"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument=task.value)


_PIPE = """
from transformers import pipeline

run = pipeline({task}, model="org/model"){mark}
print(run("some text"))
"""
BAD = (
    Example(_PIPE.format(task='"summarization"', mark="  # found")),
    Example(_PIPE.format(task='task="translation_en_to_de"', mark="  # found")),
)
GOOD = (
    Example(_PIPE.format(task='"text-generation"', mark="")),
    Example(_PIPE.format(task='"sentiment-analysis"', mark="")),
    Example("""
def pipeline(task):
    return task

print(pipeline("summarization"))
"""),
)
