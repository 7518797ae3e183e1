"""The programs that overhead.py times: plain loops whose recorder (or anomaly mode) is switched in blocks."""

import argparse
import json
import resource
import sys
import time

import torch
import torch.nn.functional as F
from networks import Block
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

ACCUMULATED = 4


class GPT(nn.Module):
    def __init__(self, layers=6, d=256, vocab=1024, length=64):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocab, d), nn.Embedding(length, d)
        self.blocks = nn.Sequential(*[Block(d, 8, dropout=0.1) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.tokens(x) + self.places(torch.arange(x.shape[1])))))


def narrow(tensors, batch=64, d=32):
    """A chain of so many parameter tensors, each small: the cost of the recorder per tensor shows here."""
    return nn.Sequential(*[m for _ in range(tensors // 2) for m in (nn.Linear(d, d), nn.Tanh())])


def wide(d):
    return nn.Sequential(
        nn.Linear(d, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 256)
    )


class Clock:
    """CPU time from end to end of the loop's body, so that what the recorder does at its top is counted."""

    def __init__(self, options):
        self.options, self.times, self.turns, self.spent = options, [], [], 0.0
        self.steps = options.warm + 2 * options.blocks * options.turns * options.steps
        self.began = time.process_time()

    def tick(self, step):
        now = time.process_time()
        self.times.append(now - self.began)
        self.began = now
        self.spent += self.times[-1]
        done = step + 1 - self.options.warm
        if done < 0 or done % self.options.steps:
            return
        if done:
            self.turns.append(self.spent)
        self.spent = 0.0
        # Switched between two steps, where the next mark finds it. The two blocks of a pair take turns, in an order that
        # alternates, so that a drift of the machine weighs on both alike.
        number = done // self.options.steps
        switch(self.options.toggle, (number // 2) % 2 == number % 2)

    def pairs(self):
        taken = []
        for i in range(0, len(self.turns) - 1, 2):
            first, second = self.turns[i], self.turns[i + 1]
            taken.append([first, second] if (i // 2) % 2 == 0 else [second, first])
        for i in range(0, len(taken), self.options.turns):
            yield [sum(both) for both in zip(*taken[i : i + self.options.turns], strict=True)]


NORMS = {"on": False}


def read_norms(optimizer, args, kwargs):
    """The least that a recorder can do: read every gradient once."""
    if NORMS["on"]:
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
        torch.stack(torch._foreach_norm(gradients)).tolist()


def switch(toggle, on):
    if toggle == "anomaly":
        torch.autograd.set_detect_anomaly(on)
    NORMS["on"] = toggle == "norms" and on
    module = sys.modules.get("firstcause.record.observe.session")
    if module is not None:
        module.current().off = toggle != "recorder" or not on


def top(options, clock):
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(0, 1024, (4096, 65))
    for step in range(clock.steps):
        optimizer.zero_grad()
        batch = data[torch.randint(0, len(data), (options.batch,))]
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        clock.tick(step)


def end(options, clock):
    model = GPT()
    if options.compile:
        model.compile(backend=options.compile)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(0, 1024, (4096, 65))
    for step in range(clock.steps):
        batch = data[torch.randint(0, len(data), (options.batch,))]
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        clock.tick(step)


def accumulation(options, clock):
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(0, 1024, (4096, 65))
    for step in range(clock.steps):
        batch = data[torch.randint(0, len(data), (options.batch,))]
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten()) / ACCUMULATED
        loss.backward()
        if (step + 1) % ACCUMULATED == 0:
            optimizer.step()
            optimizer.zero_grad()
        clock.tick(step)


def gan(options, clock):
    maker, critic = wide(64), nn.Sequential(wide(256), nn.GELU(), nn.Linear(256, 1))
    make, judge = (
        torch.optim.Adam(maker.parameters(), lr=1e-4),
        torch.optim.Adam(critic.parameters(), lr=1e-4),
    )
    for step in range(clock.steps):
        real, fake = torch.randn(256, 256), maker(torch.randn(256, 64))
        judge.zero_grad()
        loss = F.softplus(critic(fake.detach())).mean() + F.softplus(-critic(real)).mean()
        loss.backward()
        judge.step()
        make.zero_grad()
        score = F.softplus(-critic(fake)).mean()
        score.backward()
        make.step()
        clock.tick(step)


def tensors(options, clock):
    model = narrow(options.tensors)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(clock.steps):
        loss = model(torch.randn(64, 32)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        clock.tick(step)


def main():
    programs = {f.__name__: f for f in (top, end, accumulation, gan, tensors)}
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", choices=programs, default="top")
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--steps", type=int, default=4, help="steps of a turn")
    parser.add_argument("--turns", type=int, default=1, help="turns of a block")
    parser.add_argument("--warm", type=int, default=16)
    parser.add_argument("--toggle", choices=("recorder", "nothing", "anomaly", "norms"), default="recorder")
    parser.add_argument("--batch", type=int, default=4, help="sequences of 64 tokens")
    parser.add_argument("--tensors", type=int, default=100)
    parser.add_argument("--compile", metavar="BACKEND")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    torch.manual_seed(0)
    if options.toggle == "norms":
        register_optimizer_step_pre_hook(read_norms)
    clock = Clock(options)
    programs[options.program](options, clock)
    result = {
        "pairs": list(clock.pairs()),
        "step_ms": 1e3 * sorted(clock.times)[len(clock.times) // 2],
        "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    with open(options.out, "w") as file:
        json.dump(result, file)


main()
