"""An autoencoder of Lightning's template: validation each epoch, a schedule, early stopping, a checkpoint."""

import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class AutoEncoder(L.LightningModule):
    def __init__(self, width=3):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, width))
        self.decoder = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 784))

    def training_step(self, batch, index):
        x = batch[0].flatten(1)
        loss = F.mse_loss(self.decoder(self.encoder(x)), x)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x = batch[0].flatten(1)
        self.log("val_loss", F.mse_loss(self.decoder(self.encoder(x)), x), prog_bar=True)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 5)}


def main():
    data = TensorDataset(torch.rand(2000, 1, 28, 28))
    train, held_out = random_split(data, [1600, 400], generator=torch.Generator().manual_seed(0))
    trainer = L.Trainer(
        max_epochs=10,
        logger=False,
        enable_progress_bar=False,
        callbacks=[EarlyStopping("val_loss"), ModelCheckpoint(monitor="val_loss")],
    )
    trainer.fit(
        AutoEncoder(), DataLoader(train, batch_size=64, shuffle=True), DataLoader(held_out, batch_size=64)
    )


if __name__ == "__main__":
    main()
