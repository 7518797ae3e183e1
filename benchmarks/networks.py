"""The networks of overhead_program.py and gpu_program.py, with torch alone: GPTs and ResNet-50."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, d, heads, dropout=0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        y = self.out(y)
        x = x + (F.dropout(y, self.dropout, self.training) if self.dropout else y)
        return x + self.down(F.gelu(self.up(self.n2(x))))


class GPT(nn.Module):
    def __init__(self, layers, d, heads, vocabulary=50304, length=1024, checkpointed=False):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, d), nn.Embedding(length, d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        self.checkpointed = checkpointed
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, x, y):
        h = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            h = checkpoint(block, h, use_reentrant=False) if self.checkpointed else block(h)
        return F.cross_entropy(self.head(self.norm(h)).flatten(0, 1), y.flatten())


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        outside = 4 * width
        self.c1, self.b1 = nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width)
        self.c2, self.b2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.c3, self.b3 = nn.Conv2d(width, outside, 1, bias=False), nn.BatchNorm2d(outside)
        self.down = None
        if stride != 1 or inside != outside:
            self.down = nn.Sequential(
                nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)
            )

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        h = F.relu(self.b2(self.c2(h)))
        h = self.b3(self.c3(h))
        return F.relu(h + (x if self.down is None else self.down(x)))


class ResNet(nn.Module):
    def __init__(self, depths=(3, 4, 6, 3), width=64, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        layers, inside = [], width
        for stage, depth in enumerate(depths):
            for i in range(depth):
                layers.append(Bottleneck(inside, width << stage, 2 if stage and not i else 1))
                inside = 4 * (width << stage)
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(inside, classes)

    def forward(self, x, y):
        return F.cross_entropy(self.head(self.layers(self.stem(x)).mean((2, 3))), y)


# Layers, width, heads, rows and length of a batch.
GPTS = {
    "gpt-10m": (6, 128, 4, 32, 1024),
    "gpt-30m": (8, 384, 6, 32, 1024),
    "gpt-124m": (12, 768, 12, 16, 1024),
    "gpt-350m": (24, 1024, 16, 8, 1024),
    "gpt-350m-48": (24, 1024, 16, 48, 1024),
    "gpt-1300m": (24, 2048, 16, 8, 1024),
    "gpt-tiny": (6, 384, 6, 4, 256),
}


def network(name, device, tiny):
    """A model and batches for it, which stand on the device from the start."""
    if name == "resnet-50":
        rows, side = (4, 32) if tiny else (128, 224)
        model = ResNet(*((1, 1, 1, 1), 8, 10) if tiny else ())
        model = model.to(device, memory_format=torch.channels_last)
        images = [torch.randn(rows, 3, side, side, device=device) for _ in range(2)]
        labels = [torch.randint(0, 10, (rows,), device=device) for _ in range(2)]
        return model, [
            (x.to(memory_format=torch.channels_last), y) for x, y in zip(images, labels, strict=True)
        ]
    layers, d, heads, rows, length = (2, 32, 2, 2, 16) if tiny else GPTS[name]
    vocabulary = 64 if tiny else 50304
    with torch.device(device):
        model = GPT(layers, d, heads, vocabulary, length, checkpointed=name == "gpt-1300m")
    tokens = [torch.randint(0, vocabulary, (rows, length + 1), device=device) for _ in range(4)]
    return model, [(t[:, :-1], t[:, 1:]) for t in tokens]
