"""A BERT classifier of transformers' Trainer, from a configuration: evaluated each epoch, the best checkpoint kept."""

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Sentences(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.ids = rng.integers(5, 30000, (n, 128))
        self.labels = (self.ids[:, 0] > 15000).astype(int)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {
            "input_ids": torch.tensor(self.ids[i]),
            "attention_mask": torch.ones(128, dtype=torch.long),
            "labels": int(self.labels[i]),
        }


def accuracy(given):
    return {"accuracy": float((given.predictions.argmax(-1) == given.label_ids).mean())}


def main():
    model = BertForSequenceClassification(BertConfig(num_labels=2))
    args = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=32,
        num_train_epochs=3,
        learning_rate=2e-5,
        warmup_steps=100,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        report_to=[],
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=Sentences(4000, 0),
        eval_dataset=Sentences(500, 1),
        compute_metrics=accuracy,
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
