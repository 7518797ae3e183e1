"""The program that overhead.py times: a small GPT whose loop is plain, and whose recorder is switched in blocks."""

import argparse
import json
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        x = x + F.dropout(self.out(y), 0.1, self.training)
        return x + self.down(F.gelu(self.up(self.n2(x))))


class GPT(nn.Module):
    def __init__(self, layers=6, d=256, vocab=1024, length=64):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocab, d), nn.Embedding(length, d)
        self.blocks = nn.Sequential(*[Block(d, 8) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.tokens(x) + self.places(torch.arange(x.shape[1])))))


def switch(on):
    module = sys.modules.get("firstcause.record.observe.session")
    if module is not None:
        module.current().off = not on


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--zero", choices=("top", "end"), default="top")
    parser.add_argument("--toggle", choices=("recorder", "nothing"), default="recorder")
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(0, 1024, (4096, 65))
    times, spent, blocks = [], 0.0, []
    warm = 8
    total = warm + 2 * options.blocks * options.steps
    began = time.process_time()
    for step in range(total):
        if options.zero == "top":
            optimizer.zero_grad()
        batch = data[torch.randint(0, len(data), (4,))]
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        if options.zero == "end":
            optimizer.zero_grad()
        # From end to end of the body, so that what the recorder does at its top is counted.
        now = time.process_time()
        times.append(now - began)
        began = now
        spent += times[-1]
        done = step + 1 - warm
        if done >= 0 and done % options.steps == 0:
            if done:
                blocks.append(spent)
            spent = 0.0
            # Switched between two steps, where the next mark finds it. The order inside a pair alternates, so
            # that a drift of the machine weighs on both alike.
            number = done // options.steps
            switch(options.toggle == "recorder" and (number // 2) % 2 == number % 2)
    pairs = []
    for i in range(0, len(blocks) - 1, 2):
        on, off = (blocks[i], blocks[i + 1]) if (i // 2) % 2 == 0 else (blocks[i + 1], blocks[i])
        pairs.append([on, off])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open(options.out, "w") as file:
        json.dump({"pairs": pairs, "step_ms": 1e3 * sorted(times)[len(times) // 2], "peak_kib": peak}, file)


main()
