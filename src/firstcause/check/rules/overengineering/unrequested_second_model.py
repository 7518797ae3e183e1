"""A second checkpoint is loaded that nobody asked for, or a second copy that an adapter makes needless.

Why: it takes memory, time and a licence of its own, and what it does to the result was never discussed; trl takes the model
with its adapter switched off for the reference, and its releases up to 0.24 refuse another one beside peft_config.
Refuted by: two models or a teacher in the brief, a tokenizer, an adapter, the same checkpoint again, a reward model, a
reference of another checkpoint, or without an adapter, or asked for with force_use_ref_model.
Holds for: transformers, vllm, trl.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import family
from firstcause.check.code import Call, Code, finding
from firstcause.check.facts.models import model_calls
from firstcause.check.references import second_copies
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "unrequested-second-model"
CATEGORY: Category = "overengineering"
HOLDS: Mapping[str, str] = {}

# Words of briefs that speak of another model.
OTHERS = (
    "teacher",
    "distill",
    "reference model",
    "reward",
    "judge",
    "draft",
    "compare",
    "baseline",
    "embedding",
    "both",
    "ensemble",
    "verifier",
    "second",
    "another model",
    "two models",
)

LOADERS = (
    "vllm.LLM",
    "sglang.Engine",
    "transformers.pipeline",
    "sentence_transformers.SentenceTransformer",
    "sentence_transformers.CrossEncoder",
)


def find(code: Code) -> Iterator[Finding]:
    for call, reference in second_copies(code):
        text = (
            "ref_model is a second copy of the model beside peft_config: the reference is the model with the adapter "
            "switched off, at no cost; leave ref_model out"
        )
        node = reference.node if reference.module is call.module else call.node
        yield finding(SLUG, CATEGORY, call.module, node, text, argument="ref_model")
    asked = {str(i.value) for i in code.asked("model") if i.polarity == "require"}
    if len(asked) != 1 or any(w in i.sentence.lower() for i in code.instructions for w in OTHERS):
        return
    wanted = _short(asked.pop())
    loaded = [(c, n) for c in (*model_calls(code), *code.calls(*LOADERS)) for n in [_name(c)] if n]
    ours = [n for _, n in loaded if _same(_short(n), wanted)]
    if not ours:
        return
    for call, name in loaded:
        own = name.startswith((".", "/", "~")) or ("/" not in name and family(name) is None)
        if not own and not _same(_short(name), wanted):
            text = f"{name} is loaded beside {ours[0]}, which is the one model that was asked for"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, got=name)


def _name(call: Call) -> str:
    # A pipeline's first argument is its task.
    places = {"model": 1 if call.name.endswith("pipeline") else 0, "pretrained_model_name_or_path": 0}
    places |= {"model_path": 0, "model_name_or_path": 0, "model_name": 0}
    for argument, place in places.items():
        if place == 0 and call.name.endswith("pipeline"):
            continue
        name = call.constant(argument, place)
        if name is not None and isinstance(name.value, str):
            return name.value
    return ""


def _short(name: str) -> str:
    return name.lower().rpartition("/")[2].replace("_", "-")


def _same(one: str, other: str) -> bool:
    return one == other or one.startswith(other) or other.startswith(one)


_BODY = """
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
other = AutoModelForSequenceClassification.from_pretrained("{other}"){mark}
"""
_PREFER = """
import copy
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import DPOConfig, DPOTrainer

def load(name):
    return AutoModelForCausalLM.from_pretrained(name, dtype="bfloat16")

def main(pairs, adapt):
    policy = load("org/policy")
    DPOTrainer(
        model=policy,
        ref_model={reference}
        args=DPOConfig(output_dir="out"{settings}),
        train_dataset=pairs,
        peft_config={adapter},
    ).train()
"""


def _prefer(reference: str, adapter: str = "LoraConfig(r=8)", settings: str = "") -> Example:
    return Example(_PREFER.format(reference=reference, adapter=adapter, settings=settings))


BAD = (
    Example(_BODY.format(other="org/safety-judge", mark="  # found"), asked={"model": "Qwen/Qwen2.5-7B"}),
    Example(_BODY.format(other="facebook/bart-large", mark="  # found"), asked={"model": "qwen2.5-7b"}),
    _prefer('load("org/policy").eval(),  # found'),
    _prefer("copy.deepcopy(policy),  # found"),
    _prefer('AutoModelForCausalLM.from_pretrained("org/policy"),  # found'),
)
GOOD = (
    Example(_BODY.format(other="org/safety-judge", mark="")),
    Example(_BODY.format(other="Qwen/Qwen2.5-7B", mark=""), asked={"model": "Qwen/Qwen2.5-7B"}),
    Example(_BODY.format(other="./out/own", mark=""), asked={"model": "Qwen/Qwen2.5-7B"}),
    _prefer("None,"),
    _prefer('load("org/other"),'),
    _prefer('load("org/policy"),', adapter="None"),
    _prefer('load("org/policy"),', settings=", force_use_ref_model=True"),
    _prefer('None if adapt else load("org/policy"),'),
)
