"""Whole briefs: every wish of them is found, and nothing else."""

from __future__ import annotations

import pytest

from firstcause.check.brief import Text, read

WHISPER = """Hi! We need to finetune openai/whisper-small for Faroese on mozilla-foundation/common_voice_17_0 (config "fo").
Seq2SeqTrainer please. Batch 16, accumulate 2, lr 1e-5, 500 warmup steps, 5000 steps in total, fp16, gradient
checkpointing, evaluate and save every 1000 steps, keep the best by WER. Push nothing to the hub. The result goes to
./whisper-small-fo. GPU: T4 (16 GB).
"""
RANKER = """# Ranking model

- model: cross-encoder on top of microsoft/MiniLM-L12-H384-uncased
- data: pairs.tsv (query, passage, 0/1 label)
- loss: BCE with logits
- optimizer: AdamW, lr 2e-5, no weight decay
- schedule: linear, 10% warmup
- epochs: 2
- batch: 32
- output: models/ranker

Do not use the sentence-transformers library. In the paper they train with 8 GPUs, we have one.
"""
PREFERENCES = """I'd like DPO on top of our SFT checkpoint (ckpt/sft) with TRL, beta 0.1, lr 5e-7, 1 epoch, batch 2 per device on 4
A100s with accumulation 8, bf16, max length 1024. Use LoRA? No, full. Data: argilla/ultrafeedback-binarized. Save to
ckpt/dpo. The last time we used lr 5e-6 and it collapsed.
"""
SERVING = """user: write me an inference script for google/gemma-2-9b-it. 4000 prompts in prompts.jsonl, answers to out.jsonl.

assistant: Sure. Should I use vLLM or transformers?

user: vllm. temperature 0.3, 256 tokens max. two 3090s so tensor parallel 2.

assistant: I would set gpu_memory_utilization to 0.9 and max_model_len to 4096. OK?

user: yes but 0.85, the desktop needs some
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            WHISPER,
            "model=openai/whisper-small dataset=mozilla-foundation/common_voice_17_0 framework=trainer batch_size=16 "
            "gradient_accumulation=2 learning_rate=1e-05 warmup_steps=500 max_steps=5000 precision=fp16 "
            "gradient_checkpointing=True save_strategy=steps save_steps=1000 eval_strategy=steps eval_steps=1000 "
            "metric_for_best=wer output_dir=./whisper-small-fo gpu=T4 gpu_memory_gb=16",
        ),
        (
            RANKER,
            "model=microsoft/MiniLM-L12-H384-uncased dataset=pairs.tsv loss=bce optimizer=adamw learning_rate=2e-05 "
            "weight_decay!none scheduler=linear warmup_ratio=0.1 epochs=2 batch_size=32 output_dir=models/ranker "
            "framework!sentence-transformers num_gpus=1",
        ),
        (
            PREFERENCES,
            "framework=trl learning_rate=5e-07 epochs=1 batch_size=2 num_gpus=4 gpu=A100 gradient_accumulation=8 "
            "precision=bf16 max_length=1024 method!lora method=full dataset=argilla/ultrafeedback-binarized "
            "output_dir=ckpt/dpo",
        ),
        (
            SERVING,
            "model=google/gemma-2-9b-it input_path=prompts.jsonl output_path=out.jsonl framework=vllm temperature=0.3 "
            "max_new_tokens=256 num_gpus=2 max_model_len=4096 gpu_memory_utilization=0.85 gpu=RTX_3090",
        ),
    ],
)
def test_all_of_a_brief_and_nothing_else(text: str, expected: str) -> None:
    found = {
        f"{i.key}{'=' if i.polarity == 'require' else '!'}{str(i.value).replace(' ', '_')}"
        for i in read([Text(text)])
        if i.status == "active" and not i.derived
    }
    assert found == set(expected.split())


def test_a_remark_beside_a_setting_replaces_its_value() -> None:
    settings = """dim: 32          # -> 64 please, 32 was a compromise for the phone
batch: 1024      # the GPU idles at that, take 8192
lr: 0.01         # way too jumpy. 1e-3
weight_decay: 0  # 1e-6, the rare items overfit
optimizer: adagrad  # adam
dropout: 0.2     # fine
epochs: 20       # 10 is enough, I looked at the curves
val: last 10 %   # stays, the rows are ordered such that this is fair and nobody has to shuffle them again
seed: 0          # doesn't matter much, but use 21 so that it's the same as in the notebook
"""
    found = read([Text(f"The comments count more than the values:\n\n```yaml\n{settings}```\n")])

    asked = {i.key: i.value for i in found if i.status == "active" and i.polarity == "require"}
    wanted = {"batch_size": 8192, "learning_rate": 1e-3, "weight_decay": 1e-6, "optimizer": "adam"}
    assert asked.items() >= (wanted | {"dropout": 0.2, "epochs": 10, "seed": 21}).items()
