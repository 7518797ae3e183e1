import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from firstcause.integrations.lightning import FirstcauseCallback


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def training_step(self, batch, index):
        (x,) = batch
        return torch.sqrt(torch.relu(self.fc(x))).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


L.seed_everything(0)
loader = DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=8)
L.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, callbacks=[FirstcauseCallback()]
).fit(Net(), loader)
