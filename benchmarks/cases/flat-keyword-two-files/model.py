"""Small keyword-spotting network on log-mel patches."""
from torch import nn


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1)
        self.norm = nn.GroupNorm(4, cout)
        self.act = nn.SiLU()
        self.pool = nn.AvgPool2d(2)

    def forward(self, x):
        return self.pool(self.act(self.norm(self.conv(x))))


class KeywordNet(nn.Module):
    """Expects (batch, frames, mels)."""

    def __init__(self, classes, width=24, frames=64, mels=40):
        super().__init__()
        self.blocks = nn.Sequential(Block(1, width // 2), Block(width // 2, width), Block(width, width))
        self.embed = nn.Linear(width * (frames // 8) * (mels // 8), 48)
        self.classify = nn.Linear(48, classes)

    def forward(self, patches):
        maps = self.blocks(patches.unsqueeze(1))
        hidden = self.embed(maps.flatten(start_dim=1))
        return self.classify(hidden.tanh())
