"""The 24 leaks: kind, holder, depth of the chain to it, shape of the loop."""

from __future__ import annotations

from leak_program import Program

TRACKER = """
class Tracker:
    def __init__(self):
        self.history = collections.defaultdict(list)

    def update(self, **values):
        for key, value in values.items():
            self.history[key].append(value)  # keeps


class Callbacks:
    def __init__(self, *members):
        self.members = list(members)

    def after(self, **values):
        for member in self.members:
            member.update(**values)
"""

LEAKS = [
    Program("list-local", "graph", "flat", "curve.append(aux)  # keeps", "curve = []", name="curve", depth=1),
    Program(
        "running-total",
        "graph",
        "epochs",
        "running += aux  # keeps",
        "running = 0.0",
        name="running",
        depth=1,
    ),
    Program(
        "dict-by-step",
        "outputs",
        "flat",
        "OUTPUTS[step] = features  # keeps",
        above="OUTPUTS = {}",
        name="OUTPUTS",
        depth=1,
    ),
    Program(
        "tracker",
        "graph",
        "trainer",
        "self.tracker.update(aux=aux, loss=loss)",
        "self.tracker = Tracker()",
        TRACKER,
        "history",
        4,
    ),
    Program(
        "callback-chain",
        "outputs",
        "function",
        "callbacks.after(features=features)",
        "callbacks = Callbacks(Tracker())",
        TRACKER,
        "history",
        5,
        "callbacks",
    ),
    Program(
        "attribute-list",
        "tensors",
        "trainer",
        "self.feature_bank.append(features.detach())  # keeps",
        "self.feature_bank = []",
        name="feature_bank",
        depth=2,
    ),
    Program(
        "deque-unbounded",
        "tensors",
        "epochs",
        "recent.append((step, features.detach()))  # keeps",
        "recent = collections.deque()",
        name="recent",
        depth=2,
    ),
    Program(
        "cache-on-module",
        "tensors",
        "flat",
        "model.remember(features)",
        above="""
        class Net(Net):
            def __init__(self):
                super().__init__()
                self.seen = {}
                self.calls = 0

            def remember(self, h):
                self.calls += 1
                self.seen[f"call{self.calls}"] = h.detach().clone()  # keeps
        """,
        name="seen",
        depth=2,
    ),
    Program(
        "closure",
        "outputs",
        "function",
        "keep(features)",
        "keep = make_keeper()",
        """
        def make_keeper():
            kept = []

            def keep(value):
                kept.append(value)  # keeps
                return len(kept)

            return keep
        """,
        "kept",
        2,
        "keep",
    ),
    Program(
        "class-attribute",
        "tensors",
        "trainer",
        "Meter.record(features.detach())",
        above="""
        class Meter:
            values = []

            @classmethod
            def record(cls, value):
                cls.values.append(value)  # keeps
        """,
        name="values",
        depth=2,
    ),
    Program(
        "lru-cache",
        "tensors",
        "flat",
        "positions(step)",
        above="""
        @functools.lru_cache(maxsize=None)  # keeps
        def positions(step):
            return torch.arange(65536, dtype=torch.float32) * step
        """,
        name="positions",
        depth=2,
    ),
    Program(
        "lru-cache-sized",
        "tensors",
        "epochs",
        "mask_for(step)",
        above="""
        @functools.lru_cache(maxsize=100_000)  # keeps
        def mask_for(step):
            return torch.ones(256, 256).tril(step)
        """,
        name="mask_for",
        depth=2,
    ),
    Program(
        "generator-frame",
        "tensors",
        "function",
        "sink.send(features.detach())",
        "sink = collect()\nnext(sink)",
        """
        def collect():
            gathered = []
            while True:
                value = yield
                gathered.append(value)  # keeps
        """,
        "gathered",
        2,
        "sink",
    ),
    Program(
        "default-argument",
        "outputs",
        "flat",
        "remember(features)",
        above="""
        def remember(value, store=[]):
            store.append(value)  # keeps
            return store[-1]
        """,
        name="store",
        depth=2,
    ),
    Program(
        "slots",
        "tensors",
        "epochs",
        "book.pages.append(features.detach())  # keeps",
        "book = Book()",
        """
        class Book:
            __slots__ = ("pages",)

            def __init__(self):
                self.pages = []
        """,
        "pages",
        2,
    ),
    Program(
        "exceptions",
        "exceptions",
        "trainer",
        """
        try:
            check(features)
        except ValueError as error:
            self.problems.append(error)  # keeps
        """,
        "self.problems = []",
        """
        def check(features):
            doubled = features * 2
            if doubled.mean() > -1e9:
                raise ValueError("mean too large")
        """,
        "problems",
        3,
    ),
    Program(
        "exceptions-in-dict",
        "exceptions",
        "function",
        """
        try:
            validate(features.detach().clone())
        except RuntimeError as problem:
            failures[step] = problem  # keeps
        """,
        "failures = {}",
        """
        def validate(features):
            scaled = features * 3
            raise RuntimeError(f"range {float(scaled.max()):.1f}")
        """,
        "failures",
        2,
        "failures",
    ),
    Program(
        "state-average",
        "state",
        "trainer",
        "self.mean = 0.9 * self.mean + 0.1 * features.mean(0)  # keeps",
        "self.mean = torch.zeros(256)",
        name="mean",
        depth=1,
    ),
    Program(
        "state-local",
        "state",
        "flat",
        "memory = torch.tanh(features + 0.5 * memory)  # keeps",
        "memory = torch.zeros(256, 256)",
        name="memory",
        depth=1,
    ),
    Program(
        "numpy-list",
        "host",
        "epochs",
        "snapshots.append(features.detach().numpy().copy())  # keeps",
        "snapshots = []",
        name="snapshots",
        depth=1,
    ),
    Program(
        "numpy-dict-attribute",
        "host",
        "trainer",
        "self.archive[step] = features.detach().numpy().copy()  # keeps",
        "self.archive = {}",
        name="archive",
        depth=2,
    ),
    Program(
        "bytes-queue",
        "host",
        "function",
        "jobs.put(features.detach().numpy().tobytes())  # keeps",
        "jobs = queue.Queue()",
        name="jobs",
        depth=2,
        names="jobs",
    ),
    Program(
        "hooks",
        "hooks",
        "epochs",
        """
        if step % 3 == 0:
            model.body[0].register_forward_hook(lambda m, i, o: spectra.append(o.detach()))  # keeps
        """,
        "spectra = []",
        name="spectra",
        depth=1,
    ),
    Program(
        "linked-nodes",
        "tensors",
        "function",
        "chain.push(features.detach())",
        "chain = Chain()",
        """
        class Node:
            def __init__(self, value, before):
                self.value = value
                self.before = before


        class Chain:
            def __init__(self):
                self.last = None

            def push(self, value):
                self.last = Node(value, self.last)  # keeps
        """,
        "last",
        3,
        "chain",
    ),
]
