"""A small residual network over heartbeats: one channel in, rhythm classes out."""

from torch import nn


class Residual(nn.Module):
    """Two convolutions beside a shortcut; the first one may halve the time axis."""

    def __init__(self, channels_in, channels_out, stride=1):
        super().__init__()
        self.branch = nn.Sequential(
            nn.Conv1d(channels_in, channels_out, 7, stride=stride, padding=3, bias=False),
            nn.BatchNorm1d(channels_out),
            nn.ReLU(),
            nn.Conv1d(channels_out, channels_out, 7, padding=3, bias=False),
            nn.BatchNorm1d(channels_out),
        )
        self.shortcut = nn.Identity()
        if channels_in != channels_out:
            self.shortcut = nn.Sequential(
                nn.Conv1d(channels_in, channels_out, 1, stride=stride, bias=False),
                nn.BatchNorm1d(channels_out),
            )
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.branch(x) + self.shortcut(x))


class RhythmNet(nn.Module):
    """Stages of residual blocks; each stage after the first halves the time axis once."""

    def __init__(self, classes, widths=(16, 24, 24), blocks=2):
        super().__init__()
        self.stem = nn.Conv1d(1, widths[0], 7, padding=3)
        stages, width = [], widths[0]
        for number, wider in enumerate(widths):
            for block in range(blocks):
                stride = 2 if number > 0 and block == 0 else 1
                stages.append(Residual(width, wider, stride))
                width = wider
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(width, classes)

    def forward(self, beats):
        return self.head(self.stages(self.stem(beats)).mean(2))
