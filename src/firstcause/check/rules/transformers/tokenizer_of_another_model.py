"""A tokenizer is loaded from another family's checkpoint than the model.

Why: the ids of one vocabulary are looked up in the embedding of another: the model reads nonsense, or indexes past the end.
Refuted by: the same family, more than one model in the program, a checkpoint whose family the name does not tell.
Holds for: transformers, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import architecture
from firstcause.check.code import Call, Code, finding
from firstcause.check.facts.models import model_calls
from firstcause.check.loaded import loaded_class
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "tokenizer-of-another-model"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Families that use the vocabulary of gpt2 or of bert, or may.
SHARED = {"gpt2", "opt", "gpt_neo", "gptj", "gpt_neox", "phi", "mpt", "bert", "distilbert", "electra"}


def find(code: Code) -> Iterator[Finding]:
    tokenizers = [c for c in code.methods_and_calls("from_pretrained") if "Tokenizer" in loaded_class(c)]
    models = model_calls(code)
    if len(tokenizers) != 1 or len(models) != 1:
        return
    ours, theirs = _name(tokenizers[0]), _name(models[0])
    one, other = architecture(ours), architecture(theirs)
    # Families of one name have several vocabularies, and several families share one.
    if (
        one is None
        or other is None
        or one.name == other.name
        or ours == theirs
        or {one.name, other.name} <= SHARED
    ):
        return
    text = f"the tokenizer is {ours}'s and the model {theirs}: their ids mean different tokens"
    yield finding(SLUG, CATEGORY, tokenizers[0].module, tokenizers[0].node, text, related=(models[0].site,))


def _name(call: Call) -> str:
    name = call.constant("pretrained_model_name_or_path", 0)
    return name.value if name is not None and isinstance(name.value, str) else ""


_BODY = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained({tok}){mark}
model = AutoModelForCausalLM.from_pretrained("{model}")
"""
BAD = (
    Example(_BODY.format(tok='"gpt2"', model="meta-llama/Llama-3.1-8B", mark="  # found")),
    Example(_BODY.format(tok='"Qwen/Qwen2.5-7B"', model="mistralai/Mistral-7B-v0.3", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(tok='"gpt2"', model="openai-community/gpt2-large", mark="")),
    Example(_BODY.format(tok='"gpt2"', model="EleutherAI/gpt-neo-125m", mark="")),
    Example(_BODY.format(tok="NAME", model="gpt2", mark="").replace("tok =", "NAME = input()\ntok =")),
)
