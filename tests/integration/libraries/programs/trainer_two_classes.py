"""transformers: three labels, a head of two."""
import torch
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(0)
names = ["negative", "neutral", "positive"]
rows = [
    {"input_ids": [2 + (7 * i + k) % 40 for k in range(10)], "attention_mask": [1] * 10, "label": i % 3}
    for i in range(60)
]
model = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=50, dim=32, n_layers=2, n_heads=4, hidden_dim=64))
arguments = TrainingArguments(
    output_dir="out", per_device_train_batch_size=8, num_train_epochs=1, logging_steps=5, save_strategy="no",
    report_to="none", use_cpu=True, disable_tqdm=True,
)
Trainer(model=model, args=arguments, train_dataset=Dataset.from_list(rows)).train()
