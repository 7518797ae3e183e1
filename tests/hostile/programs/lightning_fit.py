# slow
# journals: 1
# needs: lightning
"""Lightning's Trainer: automatic optimization through a closure, loops in the library."""
import logging
import warnings

import lightning
import torch

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
lightning.seed_everything(0, verbose=False)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        loss = self.body(batch).pow(2).mean()
        print(index, repr(loss.item()))
        return loss

    def validation_step(self, batch, index):
        print("val", repr(self.body(batch).mean().item()))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


loader = torch.utils.data.DataLoader(torch.randn(16, 4), batch_size=4)
trainer = lightning.Trainer(
    max_epochs=2, accelerator="cpu", devices=1, logger=False, enable_progress_bar=False, enable_model_summary=False,
    enable_checkpointing=False, num_sanity_val_steps=1,
)
model = Model()
trainer.fit(model, loader, loader)
torch.save(model.state_dict(), "final.pt")
