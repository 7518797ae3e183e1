import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Rows(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return {"input_ids": torch.randint(0, 50, (8,), generator=g), "labels": torch.tensor(i % 2)}


config = BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
)
args = TrainingArguments(
    output_dir="out", num_train_epochs=150, per_device_train_batch_size=16, logging_steps=1, save_strategy="no", report_to="none",
    eval_strategy="epoch", log_level="info", use_cpu=True,
)  # fmt: skip
Trainer(
    model=BertForSequenceClassification(config), args=args, train_dataset=Rows(), eval_dataset=Rows()
).train()
