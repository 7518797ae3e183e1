"""An argument that the library's version in use does not take any more.

Why: the call raises TypeError before anything is trained.
Refuted by: an older version that is pinned or installed, a call that takes any keyword, a class of the project's own.
Holds for: the versions in the tables of arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.arguments import known_calls
from firstcause.check.code import Code, finding
from firstcause.check.renamed import instead
from firstcause.check.rule import Example
from firstcause.check.signatures import argument_standing, last_with
from firstcause.schema.finding import Category, Finding

SLUG = "removed-argument-"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call, library, name in known_calls(code):
        for keyword in call.node.keywords:
            argument = keyword.arg
            if argument is None or argument_standing(library, name, argument, code.versions) != "removed":
                continue
            last = last_with(library, name, argument)
            text = f"{name} has no argument {argument} any more (the last version read that has it is {library} {last})"
            current = instead("arguments", argument)
            if current:
                text += f"; now: {current}"
            yield finding(
                f"{SLUG}{argument.replace('_', '-')}",
                CATEGORY,
                call.module,
                keyword.value,
                text,
                argument=argument,
            )


BAD = (
    Example(
        """
from transformers import TrainingArguments

args = TrainingArguments(
    output_dir="out",
    evaluation_strategy="epoch",  # found
)
""",
        fixed="""
from transformers import TrainingArguments

args = TrainingArguments(
    output_dir="out",
    eval_strategy="epoch",  # found
)
""",
    ),
    Example("""
from transformers import Trainer

def main(model, data, tok):
    Trainer(model=model, train_dataset=data, tokenizer=tok).train()  # found
"""),
)
GOOD = (
    Example("""
from transformers import TrainingArguments

args = TrainingArguments(output_dir="out", eval_strategy="epoch", warmup_steps=0.1)
"""),
    Example("""
from transformers import AutoModel

model = AutoModel.from_pretrained("x", evaluation_strategy="epoch")
"""),
    Example("""
class TrainingArguments:
    def __init__(self, evaluation_strategy):
        self.evaluation_strategy = evaluation_strategy

args = TrainingArguments(evaluation_strategy="epoch")
"""),
)
