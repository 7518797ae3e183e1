"""An argument that the library's version in use does not take any more.

Why: the call raises TypeError before anything is trained.
Refuted by: an older version that is pinned, installed, or made sure of before the call; a call that takes any keyword,
a class of the project's own.
Holds for: the versions in the tables of arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.arguments import known_calls, scattered_calls
from firstcause.check.code import Call, Code, finding
from firstcause.check.parsed_settings import refused_settings
from firstcause.check.renamed import instead
from firstcause.check.rule import Example
from firstcause.check.served import gone_extras
from firstcause.check.signatures import argument_standing, last_with
from firstcause.check.spread_arguments import named_arguments
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name

SLUG = "removed-argument-"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for module, key, name, current in gone_extras(code):
        text = f"vllm's server has no {name} any more (gone since 0.12), and takes no notice of it; now: {current}"
        yield finding(f"{SLUG}{name.replace('_', '-')}", CATEGORY, module, key, text, argument=name)
    for one in refused_settings(code):
        text = (
            f"{one.name}, which this file fills, has no argument {one.argument} any more (the last version read that has it is "
            f"{last_with(one.library, one.name, one.argument)}), and the parser refuses what it does not know"
        )
        current = instead("arguments", one.argument)
        if current:
            text += f"; now: {current}"
        slug = f"{SLUG}{one.argument.replace('_', '-')}"
        yield finding(slug, CATEGORY, one.config, one.key, text, argument=one.argument)
    for call, library, name in (*known_calls(code), *scattered_calls(code)):
        for argument, module, value in named_arguments(call):
            if argument_standing(library, name, argument, code.versions) != "removed":
                continue
            # Few arguments come so far: to look through the function costs more than all before.
            if _is_behind_version(call, library):
                break
            last = last_with(library, name, argument)
            text = f"{name} has no argument {argument} any more (the last version read that has it is {last})"
            current = instead("arguments", argument)
            if current:
                text += f"; now: {current}"
            yield finding(
                f"{SLUG}{argument.replace('_', '-')}",
                CATEGORY,
                module,
                value,
                text,
                argument=argument,
            )


def _is_behind_version(call: Call, library: str) -> bool:
    """Whether the function makes sure of the version before the call: a test that raises, or ``require_version``."""
    function = call.module.function(call.node)
    before = [
        n
        for n in (ast.walk(function) if function is not None else ())
        if isinstance(n, (ast.If, ast.Call)) and n.lineno < call.node.lineno
    ]
    return any(_insists(n, library) for n in before)


def _insists(node: ast.If | ast.Call, library: str) -> bool:
    if isinstance(node, ast.If):
        raises = any(isinstance(n, ast.Raise) for n in ast.walk(node))
        return raises and "version" in ast.unparse(node.test).lower()
    wanted = node.args[0] if node.args else None
    return last_name(node.func) == "require_version" and (
        isinstance(wanted, ast.Constant) and str(wanted.value).startswith(library)
    )


_SERVED = """
from openai import OpenAI

client = OpenAI(base_url="http://localhost:8000/v1", api_key="none")
answer = client.chat.completions.create(
    model="org/model",
    messages=[{{"role": "user", "content": "Which colour?"}}],
    extra_body={{"{name}": {value}}},{mark}
)
"""
_CHOICES = '["red", "blue"]'
BAD = (
    Example(
        _SERVED.format(name="guided_choice", value=_CHOICES, mark="  # found"),
        files={"serve.sh": "vllm serve org/model\n"},
    ),
    Example(
        """
from sentence_transformers import SentenceTransformerTrainingArguments

args = SentenceTransformerTrainingArguments(
    output_dir="out",
    batch_sampler="no_duplicates",
    evaluation_strategy="steps",  # found
)
"""
    ),
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
from trl import SFTConfig

def config(out):
    batches = dict(per_device_train_batch_size=2, max_seq_length=4096)  # found
    return SFTConfig(output_dir=out, **batches, bf16=True)
"""),
    Example("""
from transformers import TrainingArguments

COMMON = {"output_dir": "out", "evaluation_strategy": "epoch"}  # found
args = TrainingArguments(**{**COMMON, "learning_rate": 1e-4})
"""),
    Example("""
from transformers import Trainer

def main(model, data, tok):
    Trainer(model=model, train_dataset=data, tokenizer=tok).train()  # found
"""),
)
GOOD = (
    Example("""
import transformers
from packaging.version import parse
from transformers import TrainingArguments

SETTINGS = {"output_dir": "out", "evaluation_strategy": "epoch", "learning_rate": 1e-4}

def modernise(settings):
    if parse(transformers.__version__) >= parse("4.41"):
        settings["eval_strategy"] = settings.pop("evaluation_strategy")

def main():
    modernise(SETTINGS)
    return TrainingArguments(**SETTINGS)
"""),
    Example("""
from trl import SFTConfig

def config(out, settings):
    batches = dict(per_device_train_batch_size=2, max_seq_length=4096)
    length = batches.pop("max_seq_length")
    return SFTConfig(output_dir=out, max_length=length, **batches, **settings)
"""),
    Example("""
from sentence_transformers import SentenceTransformerTrainingArguments

args = SentenceTransformerTrainingArguments(output_dir="out", warmup_ratio=0.1)
"""),
    Example(_SERVED.format(name="guided_choice", value=_CHOICES, mark="")),
    Example(
        _SERVED.format(name="structured_outputs", value='{"choice": ["red", "blue"]}', mark=""),
        files={"serve.sh": "vllm serve org/model\n"},
    ),
    Example("""
from transformers.utils.versions import require_version
from trl import PPOConfig

def config():
    require_version("trl>=0.8.6,<=0.9.6", "this needs another trl")
    return PPOConfig(model_name="m", ppo_epochs=4)
"""),
    Example("""
import importlib.metadata
from packaging.version import Version
from trl import PPOConfig

def config():
    version = Version(importlib.metadata.version("trl"))
    if version > Version("0.9.6"):
        raise ImportError("this needs trl 0.9.6 at most")
    return PPOConfig(model_name="m", ppo_epochs=4)
"""),
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
