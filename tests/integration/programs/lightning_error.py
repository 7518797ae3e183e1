import torch
from torch import nn
import lightning as L
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 8)
        self.fc = nn.Linear(8, 3)
    def training_step(self, batch, index):
        ids, y = batch
        loss = nn.functional.cross_entropy(self.fc(self.emb(ids).mean(1)), y)
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)
torch.manual_seed(0)
ids = torch.randint(0, 50, (80, 6)); ids[37, 2] = 57
data = torch.utils.data.TensorDataset(ids, torch.randint(0, 3, (80,)))
loader = torch.utils.data.DataLoader(data, batch_size=4)
L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(Net(), loader)
