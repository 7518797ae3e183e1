"""What the loader gave when it was asked again, and which cause that speaks for; none where it is another failure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.schema import Hypothesis, Site, Symptom
from firstcause.specialists import loading
from firstcause.specialists.data_loading import SPECIALIST

FORM = [["[0]", "Tensor float32", [3, 8, 8]], ["[1]", "int", None]]
ODD = [["[0]", "Tensor float32", [1, 8, 8]], ["[1]", "int", None]]
PLACE = {"file": "/home/ada/train.py", "line": 9, "function": "f", "text": "x = g()"}
LOADER = {
    "site": PLACE | {"line": 30},
    "workers": 2,
    "method": "fork",
    "batch_size": 2,
    "streams": False,
    "dataset": "D",
}
ERROR = {"type": "ValueError", "message": "empty range", "frames": [PLACE]}
COLLATE = {
    "at": [4, -1],
    "collate": {"type": "RuntimeError", "message": "equal size", "frames": []},
    "samples": [[1, FORM], [2, ODD], [3, FORM]],
    "cut": True,
}
SHORT = {
    "kind": "slice",
    "name": "x",
    "text": "x[a:a + 5]",
    "length": 3,
    "wanted": 5,
    "axis": 0,
    "of": 1,
    "holder": "x",
    "from_start": False,
    "site": PLACE,
}
DEATH = {"at": [2, 1], "index": 37, "who": [], "ended": {"signal": 9, "name": "SIGKILL"}, "site": PLACE}


def walk(**other: Any) -> dict[str, Any]:
    forms = [[FORM, 90, [1, 3]], [ODD, 2, [2]]]
    return {
        "raised": [],
        "collate": [],
        "deaths": [],
        "began": [],
        "forms": forms,
        "asked": 92,
        "lost": [],
    } | other


def worker(kind: str, message: str) -> str:
    frame = '  File "/home/ada/train.py", line 9, in f\n    x = g()\n'
    return f"Caught {kind} in DataLoader worker process 1.\nOriginal Traceback (most recent call last):\n{frame}{kind}: {message}"


def examined(message: str, seen: Any, kind: str = "RuntimeError") -> Any:
    """An examination whose loader was asked already."""
    frames = [{"file": "/v/torch/utils/data/dataloader.py", "line": 1, "function": "__next__", "text": ""}]
    known = {"loading": seen}
    return SimpleNamespace(
        symptom=Symptom("exception", f"{kind}: {message}"),
        failure={"exception": [{"type": kind, "message": message, "frames": frames}]},
        project=None,
        once=lambda key, work: known[key],
        site=lambda place: place and Site("train.py", place["line"], place["function"], place["text"]),
        place=lambda place: place or {},
        lab=None,
    )


def settled(examination: Any) -> dict[str, Hypothesis]:
    own = [m for m in SPECIALIST.modules if m.__name__.rpartition(".")[2] in NAMES and m.propose(examination)]
    return {m.CAUSE: m.settle(Hypothesis(m.CAUSE, None, 0), examination) for m in own}


NAMES = (
    "cuda_in_forked_worker",
    "file_handle_shared_by_forked_workers",
    "ragged_samples_in_default_collate",
    "sample_shorter_than_crop",
    "unpicklable_object_in_dataset",
    "worker_killed",
)
FIRST = {
    "index": 2,
    "beside": 8,
    "first": {"site": PLACE, "name": "x", "size": [1, 8, 8], "usual": [3, 8, 8], "dimension": 0},
}
READ = {
    "index": 1,
    "other": 2,
    "alone": {"sample": "a"},
    "apart": {"sample": "a"},
    "beside": {"raised": ERROR},
}
HANDLE = {"path": "/d/x.bin", "held": None, "opened": PLACE, "before": 0, "after": 40, "read": READ}
LEAF = {
    "path": "dataset.f",
    "kind": "function",
    "error": "AttributeError: local",
    "defined": PLACE,
    "owner": "D",
}
CASES = [
    (
        worker("RuntimeError", "resize"),
        {"walk": walk(collate=[COLLATE], explained=[FIRST])},
        "ragged-samples-in-default-collate",
        9,
    ),
    (
        worker("RuntimeError", "resize"),
        {"walk": walk(collate=[COLLATE])},
        "ragged-samples-in-default-collate",
        30,
    ),
    (
        worker("RuntimeError", "resize"),
        {"walk": walk(collate=[COLLATE], explained=[{"index": 2, "beside": 8, "short": SHORT}])},
        "sample-shorter-than-crop",
        9,
    ),
    (
        worker("ValueError", "empty range"),
        {
            "walk": walk(
                raised=[{"index": 2, "who": [], "at": [0, 1], "raised": ERROR}],
                explained=[{"index": 2, "beside": 8, "short": SHORT}],
            )
        },
        "sample-shorter-than-crop",
        9,
    ),
    (
        "DataLoader worker (pid 7) is killed by signal: Killed.",
        {"walk": walk(deaths=[DEATH | {"alone": {"signal": 9, "name": "SIGKILL"}}])},
        "worker-killed",
        9,
    ),
    (worker("ValueError", "bad record"), {"handle": HANDLE}, "file-handle-shared-by-forked-workers", 9),
    (
        "Can't pickle local object",
        {"pickle": {"leaves": [LEAF], "rest": True}},
        "unpicklable-object-in-dataset",
        9,
    ),
    (
        worker("RuntimeError", "Cannot re-initialize CUDA in forked subprocess."),
        "not asked",
        "cuda-in-forked-worker",
        9,
    ),
]


@pytest.mark.parametrize(("message", "seen", "cause", "line"), CASES)
def test_one_cause_is_confirmed_at_its_line(message: str, seen: Any, cause: str, line: int) -> None:
    found = settled(examined(message, seen if isinstance(seen, str) else seen | {"loader": LOADER}))
    confirmed = [h for h in found.values() if h.status == "confirmed"]
    assert [h.cause for h in confirmed] == [cause]
    assert confirmed[0].site is not None
    assert confirmed[0].site.line == line
    assert all(e.values for e in confirmed[0].evidence)


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        # The batch fails otherwise than the run did.
        (worker("KeyError", "label"), {"walk": walk(collate=[COLLATE])}),
        # Cut to one size, the samples do not go together either.
        (worker("RuntimeError", "resize"), {"walk": walk(collate=[COLLATE | {"cut": False}])}),
        # The process that asked for the sample alone lived on.
        ("DataLoader worker exited unexpectedly", {"walk": walk(deaths=[DEATH | {"alone": None}])}),
        # The worker raised, so nobody killed it.
        (worker("ValueError", "x"), {"walk": walk(deaths=[DEATH | {"alone": DEATH["ended"]}])}),
        # Nothing tells the sample that raises from the others.
        (
            worker("ValueError", "x"),
            {"walk": walk(raised=[{"index": 2, "who": [], "at": [0, 1], "raised": ERROR}])},
        ),
        # Without the part the rest cannot be pickled either.
        ("Can't pickle", {"pickle": {"leaves": [LEAF], "rest": False}}),
        # Something fails without any other worker too.
        (worker("ValueError", "x"), {"handle": HANDLE, "walk": walk(collate=[COLLATE])}),
        # CUDA's words, in the program's own process.
        ("Cannot re-initialize CUDA in forked subprocess", "not asked"),
        (worker("ValueError", "x"), "the budget was used up"),
    ],
)
def test_no_cause_is_confirmed_on_less(message: str, seen: Any) -> None:
    found = settled(examined(message, seen if isinstance(seen, str) else seen | {"loader": LOADER}))
    assert not [h for h in found.values() if h.status == "confirmed"]
    assert any(h.missing for h in found.values()) or any(h.status == "refuted" for h in found.values())


def test_an_exception_that_passed_no_loader_is_nobodys_here() -> None:
    examination = examined("CUDA out of memory", {"loader": LOADER, "walk": walk(collate=[COLLATE])})
    examination.failure["exception"][0]["frames"] = [{"file": "/home/ada/train.py"}]
    assert settled(examination) == {}


def test_samples_that_raise_for_another_reason_are_named() -> None:
    raised = [{"index": 2, "who": ["names[2] = 'b'"], "at": [0, 1], "raised": ERROR}]
    found = settled(examined(worker("ValueError", "x"), {"loader": LOADER, "walk": walk(raised=raised)}))
    assert "sample 2 (names[2] = 'b')" in found["sample-shorter-than-crop"].missing


def test_the_frames_of_a_worker_are_read_from_its_words() -> None:
    (frame,) = loading.told_by_worker(examined(worker("ValueError", "x"), "not asked"))
    assert (frame["file"], frame["line"], frame["function"]) == ("/home/ada/train.py", 9, "f")
