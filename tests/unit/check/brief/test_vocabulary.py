"""The vocabulary as data: every key has its normal form, and no phrase names two keys."""

from __future__ import annotations

import os
from pathlib import Path

from firstcause.catalog.toml import read as read_toml
from firstcause.check.brief import Text, read
from firstcause.check.brief.vocabulary import FOLDER, vocabulary, words_of

KINDS = {"whole", "rate", "share", "number", "tokens", "switch", "choice", "place", "list"}
KNOWN = [
    "augmentation",
    "batch_size",
    "completion_only",
    "data_split",
    "dataset",
    "distributed",
    "dropout",
    "early_stopping_patience",
    "effective_batch_size",
    "epochs",
    "eval_steps",
    "eval_strategy",
    "framework",
    "freeze",
    "gpu_memory_utilization",
    "gradient_accumulation",
    "gradient_checkpointing",
    "hidden_size",
    "input_path",
    "label_smoothing",
    "learning_rate",
    "lora_alpha",
    "lora_dropout",
    "lora_r",
    "lora_target_modules",
    "loss",
    "max_grad_norm",
    "max_length",
    "max_model_len",
    "max_new_tokens",
    "max_steps",
    "method",
    "metric_for_best",
    "model",
    "num_beams",
    "num_gpus",
    "num_labels",
    "num_layers",
    "num_return_sequences",
    "offload",
    "optimizer",
    "output_dir",
    "output_path",
    "packing",
    "precision",
    "quantization",
    "report_to",
    "save_rank",
    "save_steps",
    "save_strategy",
    "save_total_limit",
    "scheduler",
    "secrets",
    "seed",
    "structured_output",
    "task",
    "temperature",
    "top_p",
    "warmup_ratio",
    "warmup_steps",
    "weight_decay",
    "zero_stage",
]


def test_every_key_has_a_kind_and_a_normal_form() -> None:
    keys = vocabulary().keys
    assert not set(KNOWN) - keys.keys()
    for key in keys.values():
        assert key.kind in KINDS, key.name
        assert key.normal, key.name


def test_no_phrase_names_two_keys() -> None:
    seen: dict[tuple[str, ...], str] = {}
    twice = []
    for name, table in read_toml(os.path.join(FOLDER, "keys.toml")).items():
        for part, found in (
            (name, table),
            *((f"{name}.{k}", t) for k, t in table.items() if isinstance(t, dict)),
        ):
            for phrase in found.get("words", ()):
                other = seen.setdefault(words_of(phrase), part)
                twice += [f"{phrase}: {other} and {part}"] if other != part else []
    assert not twice


def test_values_belong_to_keys() -> None:
    tables = read_toml(os.path.join(FOLDER, "values.toml"))
    assert tables.keys() - {"beside", "metric"} <= vocabulary().keys.keys()
    assert tables["beside"].keys() <= vocabulary().keys.keys()


def test_whatever_is_read_has_a_known_key() -> None:
    for path in (Path(__file__).parent / "sentences").glob("*.toml"):
        for entry in read_toml(str(path))["sentence"]:
            assert {i.key for i in read([Text(entry["text"])])} <= vocabulary().keys.keys(), entry["text"]
