"""The trainings of ``speed_programs.py`` as text: the slow line of each ends in ``# slow``, and so does the line
that it calls where the work is done."""

from __future__ import annotations

HEAD = """\
import time
import torch
from torch import nn

torch.manual_seed(0)
"""
# From the second step on, as a person would time it: without imports and first allocations.
CLOCK = """\
    if step == 0:
        begun = time.process_time()
"""
TAIL = """\
print("seconds", time.process_time() - begun)
"""
STEP = """\
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def program(setup: str, loop: str, body: str, imports: str = "") -> str:
    """One program from its parts; ``loop`` counts ``step`` from 0."""
    return imports + HEAD + setup + loop + body + STEP + CLOCK + TAIL


NET = """\
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
"""
LOSS = "    loss = (net(x).squeeze(1) - y).square().mean()\n"
PLAIN_LOOP = """\
rows, wanted = torch.randn(20000, 32), torch.randn(20000)
for step in range(600):
    x, y = rows[32 * step : 32 * step + 32], wanted[32 * step : 32 * step + 32]
"""

REPARSED = program(
    """\
with open("rows.csv", "w") as file:
    for n in range(600):
        file.write(",".join(f"{((n * 31 + k * 17) % 97) / 97:.3f}" for k in range(33)) + "\\n")


def table():
    with open("rows.csv") as file:
        return [[float(v) for v in line.split(",")] for line in file]


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 600

    def __getitem__(self, n):
        row = table()[n]  # slow
        return torch.tensor(row[:32]), torch.tensor(row[32])


"""
    + NET,
    "for step, (x, y) in enumerate(torch.utils.data.DataLoader(Rows(), 8)):\n",
    LOSS,
)
FEATURES = program(
    """\
class Spectra(torch.utils.data.Dataset):
    def __init__(self):
        self.waves = torch.randn(96, 4096, generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, n):
        wave = self.waves[n]
        window = wave.unfold(0, 256, 16)
        features = torch.linalg.svdvals(window)[:32]  # slow
        return features, features.mean()


"""
    + NET
    + "step = -1\n",
    """\
batches = (b for epoch in range(8) for b in torch.utils.data.DataLoader(Spectra(), 8, shuffle=True))
for step, (x, y) in enumerate(batches):
""",
    LOSS,
)
MASK = program(
    NET,
    PLAIN_LOOP,
    """\
    near = torch.tensor([[1.0 if abs(i - j) < 4 else 0.0 for j in range(96)] for i in range(96)])  # slow
    x = x @ near[:32, :32]
"""
    + LOSS,
)
OPTIMIZER = program(
    """\
class Table:
    def __init__(self, size):
        self.size = size

    def angles(self):
        return torch.tensor([[p / 10000 ** (2 * (k // 2) / 32) for k in range(32)] for p in range(self.size)])  # slow


net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
places = Table(128)
""",
    PLAIN_LOOP,
    """\
    x = x + places.angles().sin()[:32]  # slow
"""
    + LOSS,
)
PIXELS = program(
    NET,
    PLAIN_LOOP,
    """\
    clipped = x.clone()
    for i in range(x.shape[0]):  # slow
        for j in range(x.shape[1]):
            clipped[i, j] = max(min(float(x[i, j]), 1.0), -1.0)
    x = clipped
"""
    + LOSS,
)
PAIRS = program(
    NET,
    PLAIN_LOOP.replace("600", "60"),
    """\
    out = net(x).squeeze(1)
    terms = []
    for i in range(len(out)):  # slow
        for j in range(len(out)):
            terms.append((out[i] - out[j] - y[i] + y[j]) ** 2)
    loss = torch.stack(terms).mean()
""",
)
LOGGED = program(
    NET + "log = open('log.txt', 'w')\n",
    PLAIN_LOOP,
    LOSS
    + """\
    print(step, [w.tolist() for w in net.parameters()], file=log)  # slow
""",
)
COUNTED = program(
    NET + "history = []\n",
    PLAIN_LOOP,
    LOSS
    + """\
    history.append({name: [round(v.item(), 4) for v in p.flatten()] for name, p in net.named_parameters()})  # slow
""",
)
COMPILED = program(
    NET,
    PLAIN_LOOP.replace("600", "40"),
    """\
    faster = torch.compile(lambda v: net(v).squeeze(1).tanh() * (step + 1), backend="eager")  # slow
    loss = (faster(x) - y).square().mean()
""",
)
GUARDED = program(
    """\
class Warm(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.seen = nn.Linear(32, 1), 0

    def forward(self, x):
        self.seen = self.seen + 1
        return self.inner(x) * min(self.seen, 1000)  # slow


net = Warm()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
quick = torch.compile(net, backend="eager", dynamic=False)
torch._dynamo.config.recompile_limit = 256
""",
    PLAIN_LOOP.replace("600", "200"),
    "    loss = (quick(x).squeeze(1) - y).square().mean()\n",
    "import torch._dynamo\n",
)
SORTED = program(
    NET,
    """\
rows, wanted = torch.randn(20000, 32), torch.randn(20000)
for step in range(60):
""",
    """\
    order = sorted(range(len(rows)), key=lambda n: float(wanted[n]))  # slow
    x, y = rows[order[32 * step : 32 * step + 32]], wanted[order[32 * step : 32 * step + 32]]
"""
    + LOSS,
)
WORDS = program(
    """\
texts = [" ".join(f"w{(n * 7 + k * 13) % 997}" for k in range(64)) for n in range(640)]


def encoded(text):
    numbers = {}
    for one in texts:  # slow
        for word in one.split():
            numbers.setdefault(word, len(numbers))
    return [numbers[w] % 64 for w in text.split()]


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return len(texts)

    def __getitem__(self, n):
        ids = encoded(texts[n])  # slow
        return torch.tensor(ids), float(n % 2)


embed = nn.Embedding(64, 32)
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD([*net.parameters(), *embed.parameters()], lr=1e-3)
""",
    "for step, (ids, y) in enumerate(torch.utils.data.DataLoader(Texts(), 8)):\n",
    "    x = embed(ids).mean(1)\n" + LOSS.replace("- y)", "- y.float())"),
)

LARGE = program(
    """\
net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
""",
    """\
for step in range(60):
    x, y = torch.randn(64, 512), torch.randn(64)
""",
    LOSS,
)
RECURRENT = program(
    """\
cell, head = nn.GRUCell(32, 64), nn.Linear(64, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=1e-3)
""",
    """\
for step in range(60):
    xs, y = torch.randn(40, 32, 32), torch.randn(32)
""",
    """\
    h = torch.zeros(32, 64)
    for x in xs:
        h = cell(x, h)
    loss = (head(h).squeeze(1) - y).square().mean()
""",
)
AUGMENTED = program(
    """\
class Noisy(torch.utils.data.Dataset):
    def __init__(self):
        self.waves = torch.randn(128, 4096)

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, n):
        wave = self.waves[n] + 0.1 * torch.randn(4096)
        features = torch.linalg.svdvals(wave.unfold(0, 256, 16))[:32]
        return features, features.mean()


"""
    + NET,
    """\
batches = (b for epoch in range(4) for b in torch.utils.data.DataLoader(Noisy(), 8, shuffle=True))
for step, (x, y) in enumerate(batches):
""",
    LOSS,
)
SELDOM = program(
    """\
net = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
""",
    PLAIN_LOOP.replace("range(600)", "range(620)"),
    LOSS
    + """\
    if step % 50 == 0:
        print(step, loss.item())
""",
)
