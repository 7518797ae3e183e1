"""The 12 programs that only look like leaks."""

from __future__ import annotations

from leak_program import Program

LOOKALIKES = [
    Program(
        "bounded-deque",
        "tensors",
        "flat",
        "recent.append(features.detach())",
        "recent = collections.deque(maxlen=8)",
    ),
    Program(
        "replay-fills-up",
        "tensors",
        "trainer",
        """
        if len(self.replay) == 20:
            self.replay.pop(0)
        self.replay.append(features.detach())
        """,
        "self.replay = []",
    ),
    Program(
        "cache-saturates",
        "tensors",
        "epochs",
        """
        key = step % 12
        if key not in cache:
            cache[key] = features.detach()
        """,
        "cache = {}",
    ),
    Program("floats", "host", "function", "history.append(loss.item())", "history = []", names="history"),
    Program("detached-losses", "tensors", "flat", "losses.append(loss.detach())", "losses = []"),
    Program(
        "warm-up",
        "tensors",
        "flat",
        """
        if step < 10:
            calibration.append(features.detach())
        """,
        "calibration = []",
    ),
    Program(
        "epoch-buffer",
        "outputs",
        "epochs",
        """
        window.append(features)
        if len(window) == 12:
            print(len(torch.cat(window)))
            window.clear()
        """,
        "window = []",
    ),
    Program(
        "average-of-weights",
        "tensors",
        "trainer",
        """
        with torch.no_grad():
            for kept, p in zip(self.average, model.parameters()):
                kept.lerp_(p, 0.01)
        """,
        "self.average = [p.detach().clone() for p in model.parameters()]",
    ),
    Program(
        "hooks-removed",
        "hooks",
        "epochs",
        """
        handle = model.body[0].register_forward_hook(lambda m, i, o: None)
        model(x)
        handle.remove()
        """,
    ),
    Program(
        "exceptions-as-text",
        "exceptions",
        "function",
        """
        try:
            raise ValueError(f"mean {float(features.mean()):.3f}")
        except ValueError as error:
            problems.append(str(error))
        """,
        "problems = []",
        names="problems",
    ),
    Program(
        "lru-bounded",
        "tensors",
        "flat",
        "table(step % 30)",
        above="""
        @functools.lru_cache(maxsize=16)
        def table(step):
            return torch.arange(65536, dtype=torch.float32) * step
        """,
    ),
    Program(
        "state-detached",
        "state",
        "trainer",
        "self.mean = (0.9 * self.mean + 0.1 * features.mean(0)).detach()",
        "self.mean = torch.zeros(256)",
    ),
]
