import torch
import timm
from timm.data import create_loader
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import create_scheduler_v2
from timm.utils import AverageMeter, NativeScaler, accuracy
from torch.utils.data import Dataset


class Tiles(Dataset):
    def __init__(self, count):
        g = torch.Generator().manual_seed(2)
        self.images = torch.rand(count, 3, 32, 32, generator=g)
        self.kinds = torch.randint(0, 5, (count,), generator=g)
        self.transform = None

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], int(self.kinds[i])


torch.manual_seed(0)
model = timm.create_model("test_vit2", img_size=32, num_classes=5)
loader = torch.utils.data.DataLoader(Tiles(64), batch_size=8, shuffle=True)
optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
scheduler, epochs = create_scheduler_v2(optimizer, sched="cosine", num_epochs=2, warmup_epochs=0)
criterion = LabelSmoothingCrossEntropy(0.1)
for epoch in range(2):
    model.train()
    meter = AverageMeter()
    for images, kinds in loader:
        scores = model(images)
        loss = criterion(scores, kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss.item(), len(images))
    scheduler.step(epoch + 1)
    print(f"epoch {epoch}: {meter.avg:.4f}")
