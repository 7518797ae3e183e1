"""An adapter is put on a quantised model that was not prepared for training.

Why: prepare_model_for_kbit_training keeps norms in float32 and lets gradients through the frozen input: without it training with
checkpointing has no gradient, and losses are less stable.
Refuted by: prepare_model_for_kbit_training, enable_input_require_grads, trl's trainers, which prepare it themselves.
Holds for: peft since 0.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import first_maker
from firstcause.check.rule import Example
from firstcause.check.rules.peft.quantised_weights_trained import quantised
from firstcause.schema.finding import Category, Finding

SLUG = "kbit-preparation-missing"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

PREPARES = {
    "prepare_model_for_kbit_training",
    "prepare_model_for_int8_training",
    "enable_input_require_grads",
}


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & PREPARES or not code.trains():
        return
    for call in code.calls("peft.get_peft_model"):
        value = call.argument("model", 0)
        made = first_maker(code, value.module, value.node) if value is not None else None
        if made is not None and made.name.endswith("from_pretrained") and quantised(made):
            text = "the quantised model goes to get_peft_model unprepared; prepare_model_for_kbit_training(model) comes first"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, related=(made.site,))


_BODY = """
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer

model = AutoModelForCausalLM.from_pretrained("org/model", quantization_config=BitsAndBytesConfig({bits}=True))
{prepare}
model = get_peft_model(model, LoraConfig(r=8)){mark}
Trainer(model=model, train_dataset=[]).train()
"""
BAD = (
    Example(_BODY.format(bits="load_in_4bit", prepare="", mark="  # found")),
    Example(_BODY.format(bits="load_in_8bit", prepare="model.config.use_cache = False", mark="  # found")),
)
GOOD = (
    Example(
        _BODY.format(bits="load_in_4bit", prepare="model = prepare_model_for_kbit_training(model)", mark="")
    ),
    Example(_BODY.format(bits="bnb_4bit_use_double_quant", prepare="", mark="")),
    Example("""
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer

model = get_peft_model(AutoModelForCausalLM.from_pretrained("org/model"), LoraConfig(r=8))
Trainer(model=model, train_dataset=[]).train()
"""),
)
