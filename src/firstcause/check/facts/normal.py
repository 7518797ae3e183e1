"""Values of the code in the form in which instructions have them: names of models, optimizers, schedules, precisions."""

from __future__ import annotations

import re
from typing import Any

from firstcause.check.constants import Named

PRECISIONS = {
    "bfloat16": "bf16", "bf16": "bf16", "bf16-mixed": "bf16", "bf16-true": "bf16", "float16": "fp16", "half": "fp16",
    "fp16": "fp16", "16": "fp16", "16-mixed": "fp16", "16-true": "fp16", "float32": "fp32", "float": "fp32", "fp32": "fp32",
    "32": "fp32", "32-true": "fp32", "no": "fp32", "fp8": "fp8", "auto": "auto", "tf32": "tf32",
}  # fmt: skip
OPTIMIZERS = {
    "adamw_torch": "adamw", "adamw_hf": "adamw", "adamw_torch_fused": "adamw", "adamw_apex_fused": "adamw", "adamw": "adamw",
    "adafactor": "adafactor", "sgd": "sgd", "adagrad": "adagrad", "rmsprop": "rmsprop", "adam": "adam", "lion": "lion",
    "adamw_bnb_8bit": "adamw_8bit", "adamw_8bit": "adamw_8bit", "paged_adamw_8bit": "paged_adamw_8bit",
    "paged_adamw_32bit": "paged_adamw_32bit", "paged_adamw": "paged_adamw_32bit", "lion_8bit": "lion_8bit", "lion_32bit": "lion",
}  # fmt: skip
DISTRIBUTED = {"ddp": "ddp", "fsdp": "fsdp", "deepspeed": "deepspeed", "dp": "dp"}
# Owners that a hub name may leave out.
OWNERS = (
    "google-bert/",
    "openai-community/",
    "distilbert/",
    "facebookai/",
    "google-t5/",
    "timm/",
    "torchvision/",
)


def normal(key: str, value: Any) -> Any:
    """A value of the code as an instruction of this key would give it."""
    if isinstance(value, Named):
        value = value.name.rpartition(".")[2]
    if key == "precision":
        return PRECISIONS.get(str(value).lower(), str(value).lower())
    if key == "optimizer":
        return OPTIMIZERS.get(str(value).lower(), str(value).lower())
    if key in ("scheduler", "eval_strategy", "save_strategy", "report_to", "quantization", "metric_for_best"):
        return str(value).lower() if not isinstance(value, list) else value
    if key == "distributed":
        return DISTRIBUTED.get(str(value).lower().split("_", 1)[0])
    if key in ("output_dir", "output_path", "input_path"):
        return path(str(value))
    return value


def path(text: str) -> str:
    """A path as it is compared: without a leading ./ and a slash at its end."""
    return re.sub(r"^(\./)+", "", text.strip()).rstrip("/") or text


def model(text: str) -> str:
    """A model's name as it is compared: lower case, the well-known owners left out."""
    name = text.strip().lower()
    for owner in OWNERS:
        if name.startswith(owner):
            return name[len(owner) :]
    return name
