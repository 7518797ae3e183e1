"""An argument of from_pretrained that the library's version in use does not act on any more.

Why: the loading either raises for it or hands it to the model's constructor, which raises.
Refuted by: an older version that is pinned or installed, a class of the project's own.
Holds for: transformers since 5.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.facts.models import model_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "removed-argument-"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {"transformers": ">=5"}

# Read in the release notes of 5.0: quantisation is configured by one object.
GONE = (
    "load_in_4bit",
    "load_in_8bit",
    "bnb_4bit_quant_type",
    "bnb_4bit_compute_dtype",
    "bnb_4bit_use_double_quant",
)


def find(code: Code) -> Iterator[Finding]:
    for call in model_calls(code):
        if not call.name.startswith("transformers."):
            continue
        gone = sorted((k for k in call.node.keywords if k.arg in GONE), key=lambda k: GONE.index(k.arg or ""))
        if gone:
            names = ", ".join(k.arg or "" for k in gone)
            text = f"from_pretrained takes no {names} any more; now: quantization_config=BitsAndBytesConfig({gone[0].arg}=…)"
            slug = f"{SLUG}{(gone[0].arg or '').replace('_', '-')}"
            yield finding(slug, CATEGORY, call.module, gone[0].value, text, argument=gone[0].arg)


_LOAD = """
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

model = AutoModelForCausalLM.from_pretrained("org/model", {given}){mark}
"""
BAD = (
    Example(_LOAD.format(given="load_in_4bit=True", mark="  # found")),
    Example(_LOAD.format(given='device_map="auto", load_in_8bit=True', mark="  # found")),
)
GOOD = (
    Example(_LOAD.format(given="quantization_config=BitsAndBytesConfig(load_in_4bit=True)", mark="")),
    Example("""
from unsloth import FastLanguageModel

model = FastLanguageModel.from_pretrained("org/model", load_in_4bit=True)
"""),
    Example(_LOAD.format(given='device_map="auto"', mark="")),
)
