import torch
from torch import nn
import lightning as L
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.g, self.d = nn.Linear(4, 4), nn.Linear(4, 1)
        self.automatic_optimization = False
        self.calls = 0
    def training_step(self, batch, index):
        (x,) = batch
        og, od = self.optimizers()
        fake = self.g(torch.randn_like(x))
        loss_d = nn.functional.softplus(self.d(fake.detach())).mean() + nn.functional.softplus(-self.d(x)).mean()
        od.zero_grad(); self.manual_backward(loss_d); od.step()
        self.calls += 1
        p = torch.sigmoid(self.d(fake))
        if self.calls == 6:
            p = p * 0
        loss_g = -torch.log(p).mean()
        og.zero_grad(); self.manual_backward(loss_g); og.step()
    def configure_optimizers(self):
        return torch.optim.Adam(self.g.parameters()), torch.optim.Adam(self.d.parameters())
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(80, 4))
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(Net(), loader)
