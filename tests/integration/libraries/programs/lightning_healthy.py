import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tides(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
        self.seen = []

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.seen.append(loss.detach())
        return loss

    def on_train_epoch_end(self):
        self.print(f"mean so far {torch.stack(self.seen).mean().item():.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


L.seed_everything(0)
x = torch.randn(256, 8)
y = (x[:, :4] + x[:, 4:]).argmax(1)
trainer = L.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Tides(), DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True))
