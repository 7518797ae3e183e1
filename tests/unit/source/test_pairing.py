"""Places at which inputs and targets may part, and the ways to keep them together; and near misses, at which they do not."""

from __future__ import annotations

import ast

import pytest

from firstcause.source.module import Module
from firstcause.source.pairing import Parting, partings


def found(text: str) -> list[Parting]:
    return partings(Module("/x/train.py", "train.py", text.encode()))


def ways(text: str) -> list[list[str]]:
    """What is written instead, by way, of all places."""
    return [[r.text for r in way] for one in found(text) for way in one.ways]


NOISY = "def noisy(x, t, eps=None):\n    if eps is None:\n        eps = torch.randn_like(x)\n    return t * x + eps\n"
PARTED = {
    "sorted, the other not": (
        "def prepare(waves, kinds):\n    waves = sorted(waves, key=len)\n    return waves, torch.tensor(kinds)\n",
        "pairs = sorted(zip(waves, kinds), key=lambda pair: (len)(pair[0]))",
    ),
    "shuffled, the other not": (
        "def load(names, marks):\n    random.shuffle(names)\n    return names, marks\n",
        "pairs = list(zip(names, marks))\nrandom.shuffle(pairs)",
    ),
    "by an order": (
        "def load(x, y):\n    order = torch.randperm(len(x))\n    x = x[order]\n    return TensorDataset(x, y)\n",
        "x = x[order]\ny = y[order]",
    ),
    "by an order that has no name": (
        "def load(x, y):\n    x = x[torch.randperm(len(x))]\n    return TensorDataset(x, y)\n",
        "rows = torch.randperm(len(x))\nx = x[rows]\ny = y[rows]",
    ),
    "by two orders": (
        "def load(x, y):\n    p, q = torch.randperm(9), torch.randperm(9)\n    x = x[p]\n    y = y[q]\n    return x, y\n",
        "y = y[p]",
    ),
    "left out of one": (
        "class Data:\n    def __init__(self, x, y):\n        self.x = [a for a in x if a.any()]\n        self.y = y\n"
        "    def __getitem__(self, i):\n        return self.x[i], self.y[i]\n",
        "pairs = [(a, partner) for a, partner in zip(x, self.y) if a.any()]",
    ),
    "a batch by two sorts of rows": (
        "def batch(self, order, s):\n    return self.x[order[s : s + 8]], self.y[s : s + 8]\n",
        "return self.x[order[s : s + 8]], self.y[order[s : s + 8]]",
    ),
    "one row off": (
        "class Data:\n    def __getitem__(self, i):\n        return self.x[i], self.y[i + 1]\n",
        "return self.x[i], self.y[i]",
    ),
    "drawn twice": (
        "def batch(x, y):\n    a = x[torch.randint(len(x), (8,))]\n    b = y[torch.randint(len(y), (8,))]\n    return a, b\n",
        "rows = torch.randint(len(x), (8,))\na = x[rows]",
    ),
    "drawn twice in one statement": (
        "def batch(x, y):\n    return x[torch.randint(9, (8,))], y[torch.randint(9, (8,))]\n",
        "rows = torch.randint(9, (8,))\nreturn x[rows], y[rows]",
    ),
    "views joined, labels interleaved": (
        "def views(x, y):\n    return torch.cat([x, x.flip(-1)]), y.repeat_interleave(2)\n",
        "return torch.cat([x, x.flip(-1)]), y.repeat(2)",
    ),
    "two loaders": (
        "a = DataLoader(x, 8, shuffle=True)\nb = DataLoader(y, 8, shuffle=True)\nfor i, t in zip(a, b):\n    step(i, t)\n",
        "a = DataLoader(x, 8, shuffle=False)",
    ),
    "split twice": (
        "def load(x, y):\n    a, b = train_test_split(x, test_size=0.2)\n    c, d = train_test_split(y, test_size=0.2)\n    return a, c\n",
        "c, d = train_test_split(y, test_size=0.2, random_state=0)",
    ),
    "a table drawn anew": (
        "def load(x, y):\n    x = x.sample(frac=1)\n    return x, y\n",
        "x = x",
    ),
    "names sorted as text": (
        "def read(folder):\n    return sorted(os.listdir(folder))\n",
        "return sorted(os.listdir(folder), key=lambda name: (len(str(name)), str(name)))",
    ),
    "sorted for packing": (
        "class Net:\n    def forward(self, x, lengths):\n        lengths, order = lengths.sort(descending=True)\n"
        "        x = x[order]\n        return self.out(x)\n",
        "return (self.out(x))[order.argsort()]",
    ),
    "sorted within the call of packing": (
        "class Net:\n    def forward(self, x, lengths):\n        lengths, order = lengths.sort(descending=True)\n"
        "        _, last = self.gru(pack_padded_sequence(x[order], lengths))\n        return self.fc(last[-1])\n",
        "return (self.fc(last[-1]))[order.argsort()]",
    ),
    "sorted by index_select": (
        "class Net:\n    def forward(self, x, lengths):\n        order = torch.argsort(lengths)\n"
        "        return self.out(x.index_select(0, order))\n",
        "return (self.out(x.index_select(0, order)))[order.argsort()]",
    ),
    "a ring that moves on before its last write": (
        "class Ring:\n    def push(self, x, y):\n        self.x[self.at] = x\n        self.at = (self.at + 1) % 9\n"
        "        self.y[self.at] = y\n",
        "self.y[self.at] = y\nself.at = (self.at + 1) % 9",
    ),
    "rows that are taken anew after the ring has moved on": (
        "class Ring:\n    def push(self, x, y):\n        rows = (self.at + torch.arange(4)) % 9\n        self.x[rows] = x\n"
        "        self.at += 4\n        rows = (self.at + torch.arange(4)) % 9\n        self.y[rows] = y\n",
        "self.y[rows] = y\nself.at += 4",
    ),
    "a ring that starts again between": (
        "class Ring:\n    def push(self, x, y):\n        self.data['x'][self.at, :] = x\n        self.at += 1\n"
        "        if self.at == 9:\n            self.at = 0\n        self.data['y'][self.at].copy_(y)\n",
        "self.data['y'][self.at].copy_(y)\nself.at += 1\nif self.at == 9:",
    ),
    "a ring that a method moves on": (
        "class Ring:\n    def step(self):\n        self.at = (self.at + 1) % 9\n    def push(self, x, y):\n"
        "        self.x[self.at] = x\n        self.step()\n        self.y[self.at] = y\n",
        "self.y[self.at] = y\nself.step()",
    ),
    "a ring that says when it is full": (
        "class Ring:\n    def push(self, x, y):\n        self.x[self.at] = x\n        self.at = (self.at + 1) % 9\n"
        "        self.full = self.full or self.at == 0\n        y = y * 2\n        self.y[self.at] = y\n",
        "self.y[self.at] = y\nself.at = (self.at + 1) % 9\nself.full = self.full or self.at == 0",
    ),
    "one random transform, called twice": (
        "import random\ndef load(self, i):\n    image, mask = self.images[i], self.masks[i]\n"
        "    image = self.transform(image)\n    mask = self.transform(mask)\n    return image, mask\n",
        "random.setstate(drawn)\nmask = self.transform(mask)",
    ),
    "one random transform, called twice in one statement": (
        "import torch\ndef load(self, image, label_map):\n    return self.augment(image), self.augment(label_map)\n",
        "drawn = torch.get_rng_state()\nmoved = self.augment(image)\ntorch.set_rng_state(drawn)\n"
        "return moved, self.augment(label_map)",
    ),
    "another noise than the one that is asked for": (
        NOISY
        + "def loss(net, x, t):\n    eps = torch.randn_like(x)\n    return F.mse_loss(net(noisy(x, t), t), eps)\n",
        "return F.mse_loss(net(noisy(x, t, eps=eps), t), eps)",
    ),
    "another end of the path than that of the velocity": (
        "class Flow:\n    def on(self, x, t, *, end=None):\n        end = torch.randn_like(x) if end is None else end\n"
        "        return (1 - t) * x + t * end\n    def forward(self, x, t):\n        end = torch.randn(x.shape)\n"
        "        speed = end - x\n        return (self.net(self.on(x, t)) - speed).square().mean()\n",
        "return (self.net(self.on(x, t, end=end)) - speed).square().mean()",
    ),
    "another noise where one may be given": (
        "class Diffusion:\n    def q_sample(self, x, t, noise=None):\n"
        "        noise = default(noise, lambda: torch.randn_like(x))\n        return x + t * noise\n"
        "    def p_losses(self, x, t, noise=None):\n        noise = default(noise, lambda: torch.randn_like(x))\n"
        "        noisy = self.q_sample(x_start=x, t=t)\n        return self.criterion(self.net(noisy), noise)\n",
        "noisy = self.q_sample(x_start=x, t=t, noise=noise)",
    ),
    "a noise that is drawn twice": (
        "def step(net, x, s):\n    noise = torch.randn_like(x)\n    seen = x + s * torch.randn_like(x)\n"
        "    return ((net(seen) - noise) ** 2).mean()\n",
        "seen = x + s * noise",
    ),
    "one of two tables sorted by their key": (
        "def load(meters, audits):\n    order = np.argsort(meters['id'][keep])\n    x = meters['columns'][keep][order]\n"
        "    y = np.log1p(audits['kwh'].clip(min=0))\n    x = x / x.std()\n"
        "    return TensorDataset(torch.from_numpy(x).float(), torch.from_numpy(y).float())\n",
        "y = np.log1p(audits['kwh'][np.argsort(audits['id'])].clip(min=0))",
    ),
    "one of two tables sorted by its attribute": (
        "def load(scans, truth):\n    order = scans.case.argsort()\n    x = scans.image[order]\n    y = truth.volume\n"
        "    return x, y\n",
        "y = truth.volume[truth.case.argsort()]",
    ),
    "one of two tables sorted downwards, converted on the way": (
        "def load(a, b):\n    order = torch.argsort(a['id'], descending=True)\n    x = a['u'][order]\n    y = b['y']\n"
        "    inputs = x.float()\n    targets = y.float()\n    return inputs, targets\n",
        "y = b['y'][torch.argsort(b['id'], descending=True)]",
    ),
    "one of two frames sorted": (
        "def load(path):\n    a = pd.read_csv(path)\n    b = pd.read_csv(path)\n    a = a.sort_values('id', ascending=False)\n"
        "    x = a[['u', 'v']].values\n    y = b['y'].values\n    return fit(x, y)\n",
        "b = b.sort_values('id', ascending=False)\ny = b['y'].values",
    ),
    "one of two lists of records sorted in place": (
        "def load(rows, answers):\n    rows.sort(key=lambda r: r['id'])\n    x = [r['text'] for r in rows]\n"
        "    y = [r['mark'] for r in answers]\n    return Data(x, y)\n",
        "answers.sort(key=lambda r: r['id'])\ny = [r['mark'] for r in answers]",
    ),
    "a count in a loop": (
        "for row in rows:\n    x[n] = row.input\n    n += 1\n    y[n] = row.answer\n",
        "y[n] = row.answer\nn += 1",
    ),
}
TOGETHER = {
    "a noise that is handed on": (
        NOISY
        + "def loss(net, x, t):\n    eps = torch.randn_like(x)\n    return F.mse_loss(net(noisy(x, t, eps), t), eps)\n"
    ),
    "noisy targets of noisy inputs": (
        NOISY
        + "def loss(net, x, t):\n    eps = torch.randn_like(x)\n    return F.mse_loss(net(noisy(x, t), t), x + eps)\n"
    ),
    "a drawn sample that a code is compared with as a whole": (
        "def loss(z):\n    prior = torch.randn_like(z)\n    seen = z + torch.randn_like(z)\n    return mmd_loss(seen, prior)\n"
    ),
    "two codes for two networks": (
        "def step(g, d, n):\n    z = torch.randn(n, 8)\n    loss_d = d(g(z)).mean()\n    z2 = torch.randn(n, 8)\n"
        "    return loss_d, d(g(z2)).mean()\n"
    ),
    "a sampler's noise": (
        NOISY
        + "def sample(net, x, t):\n    eps = torch.randn_like(x)\n    x = x - net(x, t) + t * eps\n    return noisy(x, t)\n"
    ),
    "both by one order": "def load(x, y):\n    p = torch.randperm(9)\n    x = x[p]\n    y = y[p]\n    return x, y\n",
    "both in one statement": "def load(x, y, p):\n    x, y = x[p], y[p]\n    return TensorDataset(x, y)\n",
    "the other is made from it": (
        "def load(x, p):\n    x = x[p]\n    y = x.sum(1)\n    return TensorDataset(x, y)\n"
    ),
    "two views of one image": (
        "import torch\ndef load(self, image):\n    return self.augment(image), self.augment(image)\n"
    ),
    "two images of a pair": (
        "import torch\ndef load(self, anchor, other):\n    return self.augment(anchor), self.augment(other)\n"
    ),
    "numbers of rows": "def load(x, y):\n    order = list(range(9))\n    random.shuffle(order)\n    return x, y, order\n",
    "one source": "def batch(text, i):\n    return text[i : i + 8], text[i + 1 : i + 9]\n",
    "looked up": "def batch(glyphs, kinds, i):\n    return glyphs[kinds[i]], kinds[i]\n",
    "sorted and put back": (
        "class Net:\n    def forward(self, x, lengths):\n        lengths, order = lengths.sort()\n"
        "        x = x[order]\n        return self.out(x)[order.argsort()]\n"
    ),
    "sorted in a call and put back": (
        "class Net:\n    def forward(self, x, lengths):\n        order = lengths.argsort()\n        back = order.argsort()\n"
        "        return self.out(x.index_select(0, order))[back]\n"
    ),
    "both repeated": "def views(x, y):\n    return x.repeat_interleave(2, 0), y.repeat_interleave(2)\n",
    "one loader shuffles": (
        "a = DataLoader(x, 8, shuffle=True)\nb = DataLoader(y, 8)\nfor i, t in zip(a, b):\n    step(i, t)\n"
    ),
    "split together": "a, b, c, d = train_test_split(x, y)\n",
    "split by one seed": (
        "a, b = train_test_split(x, random_state=3)\nc, d = train_test_split(y, random_state=3)\n"
    ),
    "a ring that moves on at last": (
        "class Ring:\n    def push(self, x, y):\n        self.x[self.at] = x\n        self.y[self.at] = y\n"
        "        self.at = (self.at + 1) % 9\n        self.size = min(self.size + 1, 9)\n"
    ),
    "what came before, in the next row": (
        "class Ring:\n    def push(self, x, a):\n        self.x[self.at] = x\n        self.act[self.at] = a\n"
        "        self.at += 1\n        self.prev_act[self.at] = a\n"
    ),
    "one value in two rows": (
        "class Ring:\n    def push(self, x, a):\n        self.x[self.at] = x\n        self.act[self.at] = a\n"
        "        self.at += 1\n        self.given[self.at] = a\n"
    ),
    "a trajectory of states on both sides": (
        "for s in states:\n    x[t] = s\n    t += 1\n    x[t] = move(s)\n    y[t] = reward(s)\n"
    ),
    "rows taken once": (
        "class Ring:\n    def push(self, x, y):\n        rows = (self.at + torch.arange(4)) % 9\n        self.x[rows] = x\n"
        "        self.at += 4\n        self.y[rows] = y\n"
    ),
    "what the next write needs": (
        "for s in states:\n    x[t] = s\n    t += 1\n    got = pay(s, t)\n    y[t] = got\n"
    ),
    "what was paid before, as an input": (
        "class Log:\n    def add(self, seen, act, pay):\n        self.seen[self.n] = seen\n        self.act[self.n] = act\n"
        "        self.n += 1\n        self.pay[self.n] = pay\n"
        "    def batch(self, i):\n        return torch.cat([self.seen[i], self.pay[i, None]], 1), self.act[i]\n"
    ),
    "a count of episodes": (
        "for s in states:\n    x[t] = s\n    if ends(s):\n        t += 1\n    y[t] = pay(s)\n"
    ),
    "rows that are drawn": (
        "def spoil(x, y):\n    n = torch.randint(9, (3,))\n    x[n] = 0\n    n = torch.randint(9, (3,))\n    y[n] = 1\n"
    ),
    "users and items of their own ranges": (
        "def ratings(n):\n    user = torch.randint(0, USERS, (n,), generator=g)\n    item = torch.randint(0, ITEMS, (n,), generator=g)\n"
        "    return taste[user] * style[item] + appeal[genre[item]]\n"
    ),
    "both tables sorted by their key": (
        "def load(a, b):\n    order = a['id'].argsort()\n    x = a['u'][order]\n    y = b['y'][b['id'].argsort()]\n    return x, y\n"
    ),
    "the other table brought to the first one's rows": (
        "def load(a, b):\n    a = a.sort_values('id')\n    b = b.set_index('id').loc[a['id']]\n    x = a['u'].values\n"
        "    y = b['y'].values\n    return x, y\n"
    ),
    "both from one sorted table": (
        "def load(a):\n    a = a.sort_values('id')\n    x = a['u'].values\n    y = a['y'].values\n    return x, y\n"
    ),
    "the other table by the first one's order": (
        "def load(a, b):\n    order = a['id'].argsort()\n    x = a['u'][order]\n    y = b['y'][order]\n    return x, y\n"
    ),
    "another table, which nothing stands beside": (
        "def load(a, b):\n    a = a.sort_values('id')\n    x = a['u'].values\n    y = b['y'].values\n    show(y)\n    return x\n"
    ),
    "numbered names": "def read(folder):\n    return sorted(os.listdir(folder), key=number)\n",
}


@pytest.mark.parametrize("name", PARTED)
def test_a_place_comes_with_the_text_that_keeps_them_together(name: str) -> None:
    text, expected = PARTED[name]
    texts = [text for way in ways(text) for text in way]
    assert any(expected in t for t in texts), texts


@pytest.mark.parametrize("name", PARTED)
def test_each_text_is_python(name: str) -> None:
    # A statement that is gone has no text.
    for text in (text or "pass" for way in ways(PARTED[name][0]) for text in way):
        ast.parse("def f():\n" + "\n".join("    " + row for row in text.splitlines()))


def test_what_draws_another_noise_may_stand_in_another_file() -> None:
    text = "def loss(net, x, t):\n    eps = torch.randn_like(x)\n    return F.mse_loss(net(noisy(x, t), t), eps)\n"
    module = Module("/x/train.py", "train.py", text.encode())
    other = Module("/x/noise.py", "noise.py", NOISY.encode())
    assert partings(module) == []
    assert [r.text for one in partings(module, [module, other]) for way in one.ways for r in way] == [
        "return F.mse_loss(net(noisy(x, t, eps=eps), t), eps)"
    ]


@pytest.mark.parametrize("name", TOGETHER)
def test_nothing_is_found_where_they_stay_together(name: str) -> None:
    assert [(p.words, [r.text for w in p.ways for r in w]) for p in found(TOGETHER[name])] == []


def test_a_statement_is_named_once_with_the_ways_of_all_its_partners() -> None:
    text = "def load(x, y, z, p):\n    x = x[p]\n    return x, y, z\n"
    (one,) = found(text)
    assert {r.text for way in one.ways for r in way} == {"x = x[p]\ny = y[p]", "x = x[p]\nz = z[p]", "x = x"}
