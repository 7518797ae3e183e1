"""What a checkpoint's name says, compared with the modelling files of the installed transformers."""

from __future__ import annotations

import ast
import importlib.util
import os
from pathlib import Path

import pytest

from firstcause.check.checkpoints import architecture, family, pads_right

# A checkpoint of each folder of transformers/models whose layers the table names.
CHECKPOINTS = {
    "gpt2": "openai-community/gpt2",
    "gpt_neo": "EleutherAI/gpt-neo-125m",
    "gptj": "EleutherAI/gpt-j-6b",
    "gpt_neox": "EleutherAI/pythia-410m",
    "llama": "meta-llama/Llama-3.1-8B",
    "mistral": "mistralai/Mistral-7B-v0.3",
    "qwen2": "Qwen/Qwen2.5-7B",
    "qwen3": "Qwen/Qwen3-8B",
    "gemma": "google/gemma-7b",
    "gemma2": "google/gemma-2-2b",
    "phi": "microsoft/phi-2",
    "phi3": "microsoft/Phi-3-mini-4k-instruct",
    "falcon": "tiiuae/falcon-7b",
    "bloom": "bigscience/bloom-560m",
    "opt": "facebook/opt-350m",
    "mpt": "mosaicml/mpt-7b",
    "bert": "google-bert/bert-base-uncased",
    "roberta": "FacebookAI/roberta-large",
    "camembert": "almanach/camembert-base",
    "distilbert": "distilbert-base-uncased",
    "deberta_v2": "microsoft/deberta-v3-base",
    "electra": "google/electra-small-discriminator",
    "modernbert": "answerdotai/ModernBERT-base",
    "t5": "google-t5/t5-small",
    "mt5": "google/mt5-base",
    "bart": "facebook/bart-large",
    "mbart": "facebook/mbart-large-50",
    "pegasus": "google/pegasus-xsum",
    "marian": "Helsinki-NLP/opus-mt-en-de",
    "m2m_100": "facebook/nllb-200-distilled-600M",
    "whisper": "openai/whisper-small",
}


def linear_layers(folder: str) -> set[str]:
    """The attributes of a modelling file that hold linear layers."""
    found = importlib.util.find_spec("transformers")
    if found is None or found.origin is None:
        pytest.skip("transformers is not installed")
    path = Path(os.path.dirname(found.origin)) / "models" / folder / f"modeling_{folder}.py"
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made = ast.unparse(node.value.func).rpartition(".")[2]
            target = node.targets[0]
            if made in ("Linear", "Conv1D", "FalconLinear") and isinstance(target, ast.Attribute):
                names.add(target.attr)
    return names


@pytest.mark.parametrize("folder", CHECKPOINTS)
def test_no_layer_of_an_architecture_is_missing_from_its_table(folder: str) -> None:
    known = architecture(CHECKPOINTS[folder])
    assert known is not None
    assert linear_layers(folder) - known.modules == set()


@pytest.mark.parametrize(
    "name",
    [
        "our/model",
        "Qwen/Qwen3-30B-A3B",
        "meta-llama/Llama-4-Scout-17B-16E",
        "google/gemma-3-4b-it",
        "Qwen/Qwen2.5-VL-7B-Instruct",
        "mistralai/Mixtral-8x7B-v0.1",
        "meta-llama/Llama-3.2-11B-Vision",
    ],
)
def test_a_relative_that_is_built_differently_has_no_table(name: str) -> None:
    assert architecture(name) is None


def test_kinds_and_padding() -> None:
    assert pads_right("openai-community/gpt2")
    assert not pads_right("google/gemma-2-2b")
    encoder, both = family("google-bert/bert-base-uncased"), family("google/flan-t5-base")
    assert encoder is not None
    assert encoder.kind == "encoder"
    assert both is not None
    assert both.kind == "encoder-decoder"
