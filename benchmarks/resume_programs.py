"""Trainings that are broken off and go on: in a plain loop, HF Trainer, Lightning and accelerate, with parts left out.

Each takes twelve steps, saves after the sixth, and goes on from what it finds saved. ``FORGET`` names the parts that are
neither saved nor loaded; a part that a framework keeps by itself is taken out of its checkpoint before it is loaded.
"""

from __future__ import annotations

PLAIN = """\
import copy
import os
import torch
from torch import nn

FORGET = {forget!r}
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
average = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.9**n)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=4)
rows = torch.randn(96, 4, generator=torch.Generator().manual_seed(1))


class State:
    def __init__(self):
        self.epoch = 0
        self.seen = 0


state = State()
skip = 0
if os.path.exists("last.pt"):
    saved = torch.load("last.pt")
    net.load_state_dict(saved["net"])
    for name, part in (("optimizer", optimizer), ("scheduler", schedule), ("average", average), ("scaler", scaler)):
        if name not in FORGET:
            part.load_state_dict(saved[name])
    if "generators" not in FORGET:
        torch.set_rng_state(saved["generators"])
    if "counter" not in FORGET:
        state.epoch, state.seen = saved["counter"]
    if "position" not in FORGET:
        skip = saved["position"]
for number in range(skip, 12):
    x = rows[8 * number : 8 * number + 8]
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    schedule.step()
    state.seen += len(x)
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), net.parameters()):
            slow.lerp_(fast, 0.1)
    if number == 5:
        held = dict(net=net.state_dict(), optimizer=optimizer.state_dict(), scheduler=schedule.state_dict())
        held |= dict(average=average.state_dict(), scaler=scaler.state_dict(), generators=torch.get_rng_state())
        held |= dict(counter=(state.epoch, state.seen), position=number + 1)
        torch.save({{k: v for k, v in held.items() if k not in FORGET}}, "last.pt")
"""

TRAINER = """\
import copy
import os
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments

FORGET = {forget!r}
torch.manual_seed(0)


class Rows(Dataset):
    def __init__(self):
        self.rows = torch.randn(96, 4, generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {{"x": self.rows[i], "labels": self.rows[i].sum()}}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))

    def forward(self, x, labels):
        return {{"loss": (self.body(x).squeeze(1) - labels).square().mean()}}


class Average(TrainerCallback):
    def __init__(self, net):
        self.average = copy.deepcopy(net)
        self.seen = 0
        if os.path.exists("average.pt"):
            held = torch.load("average.pt")
            if "average" not in FORGET:
                self.average.load_state_dict(held["average"])
            if "counter" not in FORGET:
                self.seen = held["seen"]

    def on_step_end(self, args, state, control, **kwargs):
        self.seen += args.train_batch_size
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), kwargs["model"].parameters()):
                slow.lerp_(fast, 0.1)

    def on_save(self, args, state, control, **kwargs):
        if state.global_step == 6:
            torch.save({{"average": self.average.state_dict(), "seen": self.seen}}, "average.pt")


net = Net()
arguments = TrainingArguments(
    "out", max_steps=12, per_device_train_batch_size=8, save_steps=6, learning_rate=1e-2, report_to=[], use_cpu=True,
    disable_tqdm=True, save_strategy="steps", logging_steps=100, ignore_data_skip="position" in FORGET, seed=0,
)
trainer = Trainer(net, arguments, train_dataset=Rows(), callbacks=[Average(net)])
saved = "out/checkpoint-6" if os.path.isdir("out/checkpoint-6") else None
LEFT_OUT = {{"optimizer": ["optimizer.pt"], "scheduler": ["scheduler.pt"], "generators": ["rng_state.pth"]}}
for part in FORGET if saved else ():
    for name in LEFT_OUT.get(part, ()):
        os.unlink(f"{{saved}}/{{name}}")
trainer.train(resume_from_checkpoint=saved)
"""

LIGHTNING = """\
import copy
import os
import warnings
import torch
from torch import nn
import lightning
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
FORGET = {forget!r}


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
        self.average = [p.detach().clone() for p in self.body.parameters()]
        self.seen = 0

    def training_step(self, batch, number):
        (x,) = batch
        self.seen += len(x)
        return (self.body(x) - x.sum(1, keepdim=True)).square().mean()

    def on_train_batch_end(self, *args):
        with torch.no_grad():
            for slow, fast in zip(self.average, self.body.parameters()):
                slow.lerp_(fast, 0.1)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.body.parameters(), lr=1e-2)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.9**n)
        return {{"optimizer": optimizer, "lr_scheduler": {{"scheduler": schedule, "interval": "step"}}}}

    def on_save_checkpoint(self, checkpoint):
        checkpoint["own"] = (self.average, self.seen, torch.get_rng_state())

    def on_load_checkpoint(self, checkpoint):
        average, seen, generator = checkpoint["own"]
        if "average" not in FORGET:
            self.average = average
        if "counter" not in FORGET:
            self.seen = seen
        self.generator = generator
        if "optimizer" in FORGET:
            for held in checkpoint["optimizer_states"]:
                held["state"] = {{}}
        if "scheduler" in FORGET:
            checkpoint["lr_schedulers"] = [dict(s, last_epoch=0, _step_count=1) for s in checkpoint["lr_schedulers"]]

    def on_train_epoch_start(self):
        if hasattr(self, "generator") and "generators" not in FORGET:
            torch.set_rng_state(self.generator)
            del self.generator


lightning.seed_everything(0, verbose=False)
rows = torch.randn(24, 4, generator=torch.Generator().manual_seed(1))
net = Net()
# Its own generator, so that a new pass draws nothing from the one of the dropout.
loader = DataLoader(TensorDataset(rows), 8, generator=torch.Generator())
trainer = lightning.Trainer(
    max_epochs=4, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
    callbacks=[lightning.pytorch.callbacks.ModelCheckpoint("kept", "{{epoch}}", save_top_k=-1)],
)
found = "kept/epoch=1.ckpt" if os.path.exists("kept/epoch=1.ckpt") else None
if found and "position" in FORGET:
    held = torch.load(found, weights_only=False)
    held["loops"]["fit_loop"]["epoch_progress"]["current"].update(ready=0, started=0, processed=0, completed=0)
    found = "kept/again.ckpt"
    torch.save(held, found)
trainer.fit(net, loader, ckpt_path=found, weights_only=False)
"""

ACCELERATE = """\
import copy
import os
import torch
from torch import nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

FORGET = {forget!r}
torch.manual_seed(0)


class Progress:
    def __init__(self):
        self.step = 0
        self.seen = 0

    def state_dict(self):
        return {{"step": self.step, "seen": self.seen}}

    def load_state_dict(self, state):
        self.step = state["step"]
        self.seen = 0 if "counter" in FORGET else state["seen"]


accelerator = Accelerator(cpu=True)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
average = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.9**n)
rows = torch.randn(96, 4, generator=torch.Generator().manual_seed(1))
# Its own generator, so that a new pass draws nothing from the one of the dropout.
loader = DataLoader(TensorDataset(rows), 8, generator=torch.Generator())
net, optimizer, loader, schedule = accelerator.prepare(net, optimizer, loader, schedule)
progress = Progress()
accelerator.register_for_checkpointing(progress)
if "average" not in FORGET:
    accelerator.register_for_checkpointing(average)
if os.path.exists("saved/done"):
    fresh = torch.get_rng_state()
    states = [{{k: v for k, v in part.state_dict().items()}} for part in (optimizer, schedule)]
    accelerator.load_state("saved")
    if "optimizer" in FORGET:
        optimizer.load_state_dict(states[0] | {{"param_groups": optimizer.state_dict()["param_groups"]}})
    if "scheduler" in FORGET:
        schedule.load_state_dict(states[1])
    if "generators" in FORGET:
        torch.set_rng_state(fresh)
skip = progress.step if "position" not in FORGET else 0
for (x,) in accelerator.skip_first_batches(loader, skip):
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    schedule.step()
    progress.step += 1
    progress.seen += len(x)
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), net.parameters()):
            slow.lerp_(fast, 0.1)
    if progress.step == 6:
        accelerator.save_state("saved", safe_serialization=False)
        open("saved/done", "w").close()
"""

FRAMEWORKS = {"plain": PLAIN, "trainer": TRAINER, "lightning": LIGHTNING, "accelerate": ACCELERATE}
PARTS = {
    "plain": ("optimizer", "scheduler", "generators", "position", "average", "scaler", "counter"),
    # The libraries keep counters of their own: the one that is left out is the program's.
    "trainer": ("optimizer", "scheduler", "generators", "position", "average", "counter"),
    "lightning": ("optimizer", "scheduler", "generators", "position", "average", "counter"),
    "accelerate": ("optimizer", "scheduler", "generators", "position", "average", "counter"),
}
# Trainer reads the states of optimizer and schedule together or not at all.
TOGETHER = {("trainer", "optimizer"): ("scheduler",), ("trainer", "scheduler"): ("optimizer",)}
PAIRS = (("optimizer", "generators"), ("scheduler", "average"), ("position", "counter"))


def programs() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Each program by its name, with the parts that do not come back in it."""
    found = {}
    for framework, text in FRAMEWORKS.items():
        single = [(part,) for part in PARTS[framework]]
        for forget in [(), *single, *PAIRS]:
            name = f"{framework}, {' and '.join(forget) or 'complete'}"
            more = [part for left in forget for part in TOGETHER.get((framework, left), ())]
            found[name] = (text.format(forget=forget), tuple(sorted({*forget, *more})))
    return found
