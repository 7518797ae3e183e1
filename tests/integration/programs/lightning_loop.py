import random
import torch
from torch import nn
import lightning as L
class Data(torch.utils.data.Dataset):
    def __len__(self): return 60
    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        x = torch.randn(4, generator=g) + 0.1 * torch.randn(4)
        if random.random() < 0.5: x = -x
        return {"x": x, "y": i % 2}
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))
        self.seen = 0
    def loss(self, batch):
        p = torch.softmax(self.net(batch["x"]), 1)
        if self.training:
            self.seen += 1
            if self.seen == 33:
                p = p * (p > 2)
        return -torch.log(p.gather(1, batch["y"][:, None])).mean()
    def training_step(self, batch, index):
        loss = self.loss(batch)
        self.log("loss", loss, prog_bar=True, on_step=True, on_epoch=True)
        return {"loss": loss}
    def validation_step(self, batch, index):
        self.log("val", self.loss(batch))
    def configure_optimizers(self):
        o = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return {"optimizer": o, "lr_scheduler": {"scheduler": torch.optim.lr_scheduler.StepLR(o, 5), "interval": "step"}}
L.seed_everything(1)
loader = torch.utils.data.DataLoader(Data(), batch_size=4, shuffle=True)
val = torch.utils.data.DataLoader(Data(), batch_size=4)
L.Trainer(max_epochs=3, accelerator="cpu", accumulate_grad_batches=4, gradient_clip_val=1.0, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(Net(), loader, val)
