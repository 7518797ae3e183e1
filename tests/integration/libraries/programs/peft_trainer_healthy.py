import torch
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from transformers import OPTConfig, OPTForCausalLM, Trainer, TrainingArguments, set_seed

set_seed(1)
model = OPTForCausalLM(OPTConfig(
    vocab_size=60, hidden_size=32, word_embed_proj_dim=32, ffn_dim=64, num_hidden_layers=2, num_attention_heads=4,
    max_position_embeddings=40, pad_token_id=1,
))
model = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.05, task_type="CAUSAL_LM"))
rows = [{"input_ids": [(i + k) % 50 + 4 for k in range(12)]} for i in range(40)]
data = Dataset.from_list([{**r, "labels": r["input_ids"]} for r in rows])
arguments = TrainingArguments(
    output_dir="out", per_device_train_batch_size=8, num_train_epochs=3, learning_rate=1e-2, logging_steps=5,
    gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": True},
    save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
)
Trainer(model=model, args=arguments, train_dataset=data).train()
