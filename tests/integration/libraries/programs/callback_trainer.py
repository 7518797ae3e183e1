import torch
from torch import nn
from transformers import Trainer, TrainingArguments

from firstcause.integrations.transformers import FirstcauseCallback


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x=None, labels=None):
        share = torch.softmax(self.fc(x), 1)
        return {"loss": -torch.log(share[range(len(x)), labels]).mean(), "logits": share}


torch.manual_seed(0)
data = [{"x": torch.randn(4) * (1e4 if i == 19 else 1), "labels": i % 2} for i in range(40)]
arguments = TrainingArguments(
    "out", per_device_train_batch_size=4, max_steps=12, use_cpu=True, save_strategy="no", report_to="none", disable_tqdm=True
)
Trainer(Net(), arguments, train_dataset=data, callbacks=[FirstcauseCallback()]).train()
