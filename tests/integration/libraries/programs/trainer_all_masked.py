"""litgpt 150: inputs longer than the window leave no answer token to learn from."""
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, default_data_collator, set_seed

set_seed(0)
WINDOW = 24


class Instructions(Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(4)
        self.rows = []
        for i in range(count):
            prompt = 8 + int(torch.randint(0, 8, (1,), generator=generator))
            if i == 33:
                prompt = 30
            answer = 6
            self.rows.append((prompt, torch.randint(3, 50, (prompt + answer,), generator=generator)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        prompt, ids = self.rows[i]
        ids = ids[:WINDOW]
        labels = ids.clone()
        labels[:prompt] = -100
        pad = WINDOW - len(ids)
        return {
            "input_ids": torch.nn.functional.pad(ids, (0, pad), value=0),
            "attention_mask": torch.nn.functional.pad(torch.ones_like(ids), (0, pad)),
            "labels": torch.nn.functional.pad(labels, (0, pad), value=-100),
        }


model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2))
arguments = TrainingArguments(
    output_dir="out", per_device_train_batch_size=1, num_train_epochs=1, logging_steps=10, learning_rate=1e-3,
    save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
)
Trainer(model=model, args=arguments, train_dataset=Instructions(64), data_collator=default_data_collator).train()
