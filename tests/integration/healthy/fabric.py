import lightning
import torch
from lightning.pytorch.callbacks import TQDMProgressBar
from torch.utils.data import DataLoader, TensorDataset


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        loss = self.layer(batch[0]).pow(2).mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, index):
        self.log("val_loss", self.layer(batch[0]).pow(2).mean(), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8)
trainer = lightning.Trainer(
    max_epochs=140, accelerator="cpu", logger=False, enable_checkpointing=False, log_every_n_steps=1,
    callbacks=[TQDMProgressBar(refresh_rate=1)],
)  # fmt: skip
trainer.fit(Net(), data, data)
