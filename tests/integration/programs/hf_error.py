import random
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
torch.manual_seed(0)
class Data(torch.utils.data.Dataset):
    def __len__(self): return 48
    def __getitem__(self, i):
        n = 5
        ids = torch.randint(0, 60, (n,))
        if i == 29: ids[1] = 64
        return {"input_ids": ids, "attention_mask": torch.ones(n, dtype=torch.long), "labels": i % 2}
model = BertForSequenceClassification(BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, max_position_embeddings=16))
arguments = TrainingArguments("out", per_device_train_batch_size=4, gradient_accumulation_steps=2, num_train_epochs=3, use_cpu=True, save_strategy="no", report_to="none", disable_tqdm=True, eval_strategy="epoch", logging_steps=1)
Trainer(model, arguments, train_dataset=Data(), eval_dataset=[Data()[i] for i in range(8)]).train()
