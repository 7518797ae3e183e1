"""Settings for generating at evaluation are given to a trainer that does not generate.

Why: Trainer evaluates with teacher forcing and hands logits to compute_metrics: ROUGE or BLEU of them mean nothing.
Refuted by: Seq2SeqTrainer, a subclass of it.
Holds for: transformers, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import is_true
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "generation-settings-unused"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        # TrainingArguments has no such argument, which is another finding.
        if (
            run.call.name != "transformers.Trainer"
            or run.settings is None
            or "Seq2Seq" not in run.settings.name
        ):
            continue
        if is_true(run.settings, "predict_with_generate"):
            text = "predict_with_generate is on and Trainer never generates; Seq2SeqTrainer does"
            yield finding(SLUG, CATEGORY, run.call.module, run.call.node, text, related=(run.settings.site,))


_BODY = """
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, Trainer

def main(model, data):
    args = Seq2SeqTrainingArguments("out"{given})
    {trainer}(model=model, args=args, train_dataset=data).train(){mark}
"""
BAD = (
    Example(_BODY.format(given=", predict_with_generate=True", trainer="Trainer", mark="  # found")),
    Example("""
from transformers import Seq2SeqTrainingArguments
from transformers import Trainer as T

ARGS = Seq2SeqTrainingArguments(output_dir="o", generation_max_length=64, predict_with_generate=True)

def run(model, data):
    return T(model, ARGS, train_dataset=data)  # found
"""),
)
GOOD = (
    Example(_BODY.format(given=", predict_with_generate=True", trainer="Seq2SeqTrainer", mark="")),
    Example(_BODY.format(given="", trainer="Trainer", mark="")),
    Example(_BODY.format(given=", predict_with_generate=False", trainer="Trainer", mark="")),
)
