"""An argument that the library's call never took.

Why: the call raises TypeError; most often it belongs to another class, or to another library's call of the same purpose.
Refuted by: a version that has it, a call that takes any keyword, a class of the project's own.
Holds for: the versions in the tables of arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.arguments import client_calls, known_calls
from firstcause.check.code import Code, finding
from firstcause.check.renamed import instead
from firstcause.check.rule import Example
from firstcause.check.signatures import argument_standing, near
from firstcause.check.spread_arguments import named_arguments
from firstcause.schema.finding import Category, Finding

SLUG = "unknown-argument"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call, library, name in (*known_calls(code), *client_calls(code)):
        for argument, module, value in named_arguments(call):
            if argument_standing(library, name, argument, code.versions) != "unknown":
                continue
            text = f"{library}'s {name} takes no argument {argument}"
            if library == "openai":
                text += "; what a server takes beyond OpenAI's own protocol goes into extra_body"
            current = near(library, name, argument) or instead("arguments", argument)
            if current:
                text += f"; meant may be: {current}"
            slug = "unknown-sampling-param" if name == "SamplingParams" else SLUG
            yield finding(slug, CATEGORY, module, value, text, argument=argument)


BAD = (
    Example("""
from openai import OpenAI

def ask(client: OpenAI, text):
    return client.chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": text}],
        max_new_tokens=64,  # found
        top_k=20,  # found
    )
"""),
    Example("""
import torch
from torch.utils.data import DataLoader

def run(net, data):
    loader = DataLoader(data, bs=32)  # found
    return torch.optim.AdamW(net.parameters(), learning_rate=1e-4), loader  # found
"""),
    Example("""
from transformers import TrainingArguments

args = TrainingArguments(output_dir="out", predict_with_generate=True)  # found
"""),
    Example("""
from peft import LoraConfig

config = LoraConfig(rank=8)  # found
"""),
    Example("""
from peft import LoraConfig

adapter = {"lora_alpha": 32, "rank": 16}  # found
config = LoraConfig(**adapter)
"""),
)
GOOD = (
    Example("""
from openai import OpenAI

client = OpenAI(base_url="http://localhost:8000/v1", api_key="none")
reply = client.chat.completions.create(
    model="m", messages=[], max_tokens=64, extra_body={"top_k": 20, "repetition_penalty": 1.1}
)
"""),
    Example("""
import torch
from torch.utils.data import DataLoader

def run(net, data, **more):
    loader = DataLoader(data, batch_size=32, prefetch_factor=4, num_workers=2, **more)
    return torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True), torch.nn.Conv2d(3, 8, kernel_size=3, bias=False), loader
"""),
    Example("""
from transformers import Seq2SeqTrainingArguments

args = Seq2SeqTrainingArguments(output_dir="out", predict_with_generate=True)
"""),
    Example("""
from trl import SFTConfig

config = SFTConfig(output_dir="out", learning_rate=1e-4, max_length=512, bf16=True)
"""),
    Example("""
from peft import LoraConfig

class Mine(LoraConfig):
    pass

config = Mine(rank=8)
"""),
)
