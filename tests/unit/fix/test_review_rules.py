"""Each rule of the review on patches that it is for, and on patches that look alike and are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.catalog import slugs
from firstcause.errors import InputError
from firstcause.fix.edits import unified_diff
from firstcause.fix.review import Review, Setting, review
from firstcause.fix.review.rules import RULES
from firstcause.fix.review.treatments import _CALLS, _KEYWORDS, _SETTINGS, TREATS
from firstcause.schema import Diagnosis, Evidence, Hypothesis, Site

PROGRAM = """\
import torch
from torch import nn

BATCH_SIZE = 64


class Table(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.emb = nn.Embedding(rows, 8)

    def forward(self, ids):
        return self.emb(ids).mean(1)


def loss_of(out, y):
    p = torch.sigmoid(out)
    return -(y * torch.log(p)).mean()


def main():
    torch.manual_seed(0)
    model = Table(100)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    try:
        state = torch.load("a.pt")
    except FileNotFoundError:
        raise
    model.load_state_dict(state)
    for ids, y in batches(BATCH_SIZE):
        loss = loss_of(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        assert loss.item() < 10
        torch.testing.assert_close(loss, loss, atol=1e-6, rtol=0)
        if loss.item() > 1e6:
            raise ValueError("diverged")


def test_loss():
    assert True
"""
LOG = PROGRAM.splitlines().index("    return -(y * torch.log(p)).mean()") + 1

# The rule, and what the patch changes: old text => new text, one pair or more.
BAD = [
    (
        "swallowed-error",
        [
            (
                "        loss.backward()",
                "        try:\n            loss.backward()\n        except RuntimeError:\n            continue",
            )
        ],
    ),
    (
        "swallowed-error",
        [("        opt.step()", "        with contextlib.suppress(Exception):\n            opt.step()")],
    ),
    ("nan-hidden", [("torch.log(p)).mean()", "torch.log(p)).nan_to_num().mean()")]),
    (
        "nan-hidden",
        [
            (
                "        opt.zero_grad()",
                "        if torch.isnan(loss):\n            continue\n        opt.zero_grad()",
            )
        ],
    ),
    ("nan-hidden", [("    p = torch.sigmoid(out)", "    p = torch.sigmoid(out)\n    p[torch.isnan(p)] = 0")]),
    ("nan-hidden", [("torch.sigmoid(out)", "torch.where(torch.isfinite(out), torch.sigmoid(out), 0.5)")]),
    ("clamped-ids", [("self.emb(ids)", "self.emb(ids.clamp(max=99))")]),
    ("clamped-ids", [("self.emb(ids)", "self.emb(ids % 100)")]),
    (
        "clamped-ids",
        [("        loss = loss_of", "        ids = torch.clamp(ids, 0, 99)\n        loss = loss_of")],
    ),
    ("retained-graph", [("loss.backward()", "loss.backward(retain_graph=True)")]),
    ("strict-off", [("load_state_dict(state)", "load_state_dict(state, strict=False)")]),
    ("emptied-cache", [("        opt.step()", "        opt.step()\n        torch.cuda.empty_cache()")]),
    ("emptied-cache", [("        opt.step()", "        opt.step()\n        gc.collect()")]),
    ("smaller-batch", [("BATCH_SIZE = 64", "BATCH_SIZE = 8")]),
    ("raised-tolerance", [("atol=1e-6", "atol=1e-2")]),
    ("raised-tolerance", [("loss.item() < 10", "loss.item() < 1000")]),
    ("deleted-check", [("        assert loss.item() < 10\n", "")]),
    ("deleted-check", [('            raise ValueError("diverged")', "            pass")]),
    ("deleted-check", [("\n\ndef test_loss():\n    assert True\n", "")]),
    ("deleted-check", [("def test_loss", "@pytest.mark.skip\ndef test_loss")]),
    (
        "shotgun",
        [
            ("lr=0.1", "lr=0.01"),
            (
                "        opt.step()",
                "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        opt.step()",
            ),
            ("manual_seed(0)", "manual_seed(7)"),
        ],
    ),
]
GOOD = [
    [("torch.log(p)", "torch.log(p.clamp_min(1e-7))")],
    [("except FileNotFoundError:\n        raise", "except FileNotFoundError:\n        state = None")],
    [("import torch\n", "# why it is so\nimport torch\n")],
    [("nn.Embedding(rows, 8)", "nn.Embedding(rows + 1, 8)")],
    [("BATCH_SIZE = 64", "BATCH_SIZE = 128")],
    [
        (
            "        opt.step()\n",
            "        opt.step()\n        if ids[0] % 10 == 0:\n            print(loss.item())\n",
        )
    ],
    [("    p = torch.sigmoid(out)", "    p = torch.sigmoid(out)\n    y = y.clamp(0, 1)")],
    [("lr=0.1", "lr=0.01")],
    [("atol=1e-6", "atol=1e-8")],
    [("def test_loss():\n    assert True", "def test_loss():\n    assert True\n    assert 1 < 2")],
    [
        ("        opt.zero_grad()\n", ""),
        ("        opt.step()\n", "        opt.step()\n        opt.zero_grad()\n"),
    ],
]


def changed(pairs: list[tuple[str, str]], text: str = PROGRAM) -> str:
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def reviewed(folder: Path, after: str, setting: Setting | None = None, before: str = PROGRAM) -> Review:
    (folder / "train.py").write_text(before)
    return review(unified_diff("train.py", before, after), str(folder), setting)


def established(cause: str, line: int, **refuted: str) -> Setting:
    site = Site("train.py", line)
    mine = Hypothesis(cause, site, 1, "confirmed", (Evidence("replay", True, "seen", {}, site),))
    others = [
        Hypothesis(name.replace("_", "-"), None, 2, "refuted", (Evidence("counterfactual", False, text),))
        for name, text in refuted.items()
    ]
    return Setting(Diagnosis("established", None, cause, site, (mine, *others), {}))


@pytest.mark.parametrize(("rule", "pairs"), BAD, ids=lambda value: value if isinstance(value, str) else "")
def test_a_symptom_patch_is_named_at_its_line(
    rule: str, pairs: list[tuple[str, str]], tmp_path: Path
) -> None:
    found = reviewed(tmp_path, changed(pairs))
    assert not found.passed
    assert {reason.rule for reason in found.reasons} == {rule}
    assert all(reason.place.startswith("train.py") and len(reason.text) > 20 for reason in found.reasons)


@pytest.mark.parametrize("pairs", GOOD)
def test_what_looks_alike_passes(pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    assert reviewed(tmp_path, changed(pairs)).reasons == ()


@pytest.mark.parametrize(("rule", "pairs"), BAD, ids=lambda value: value if isinstance(value, str) else "")
def test_taking_a_symptom_patch_out_is_none(rule: str, pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    found = reviewed(tmp_path, PROGRAM, before=changed(pairs))
    assert rule not in {reason.rule for reason in found.reasons} - {"shotgun"}


def test_a_patch_that_was_applied_reads_the_same(tmp_path: Path) -> None:
    after = changed(
        [("lr=0.1", "lr=0.01"), ("        opt.step()", "        opt.step()\n        gc.collect()")]
    )
    diff = unified_diff("train.py", PROGRAM, after)
    (tmp_path / "train.py").write_text(PROGRAM)
    waiting = review(diff, str(tmp_path))
    (tmp_path / "train.py").write_text(after)
    assert review(diff, str(tmp_path)) == waiting
    assert not waiting.passed


@pytest.mark.parametrize(
    ("forward", "rules"),
    [
        ("items = items.clamp(max=99)\n        return self.emb(items)", {"clamped-ids"}),
        ("items = items.long() % 100\n        return self.emb(items.view(-1))", {"clamped-ids"}),
        ("items = self.emb(items)\n        return items.clamp(0, 6)", set()),
        ("scale = scale.clamp(1, 6)\n        return self.emb(items) * scale", set()),
        ("scale = scale.clamp(min=-100)\n        return F.nll_loss(scale, items)", set()),
        ("items = items.clamp(max=9)\n        return F.nll_loss(scale, items)", {"clamped-ids"}),
        ("scale = scale.clamp(min=-100)\n        return torch.gather(scale, 1, items)", set()),
    ],
)
def test_ids_are_known_by_the_table_that_is_read_by_them(
    forward: str, rules: set[str], tmp_path: Path
) -> None:
    text = "class Items:\n    def forward(self, items, scale):\n        BODY\n"
    found = reviewed(
        tmp_path, text.replace("BODY", forward), None, text.replace("BODY", "return self.emb(items)")
    )
    assert {reason.rule for reason in found.reasons} == rules


def test_a_deleted_test_file_is_a_deleted_check(tmp_path: Path) -> None:
    diff = (
        "diff --git a/test_a.py b/test_a.py\ndeleted file mode 100644\nindex 1..0\n--- a/test_a.py\n+++ /dev/null\n"
        "@@ -1,2 +0,0 @@\n-def test_a():\n-    assert 1\n"
    )
    rules = {reason.rule for reason in review(diff, str(tmp_path)).reasons}
    assert rules == {"deleted-check"}


def test_without_evidence_a_change_elsewhere_passes_and_with_it_not(tmp_path: Path) -> None:
    after = changed([("nn.Embedding(rows, 8)", "nn.Embedding(rows, 16)")])
    assert reviewed(tmp_path, after).passed
    (reason,) = reviewed(tmp_path, after, established("log-of-zero", LOG)).reasons
    assert reason.rule == "displaced"
    assert f"train.py:{LOG}" in reason.text


KEEPS = """\
class Recorder:
    def __init__(self, model):
        self.handles = []
        for module in model.modules():
            self.handles.append(module.register_forward_hook(print))

    def summary(self):
        return len(self.handles)


def evaluate(model, batches):
    model.eval()
    for x in batches:
        model(x)

    recorder = Recorder(model)
    total = 0
    for x in batches:
        total += model(x).sum()
    model.train()
    return total, recorder.summary()
"""


@pytest.mark.parametrize(
    ("last", "rules"),
    [
        (
            "for handle in recorder.handles:\n        handle.remove()\n    return total, recorder.summary()",
            set(),
        ),
        ("model.float()\n    return total, recorder.summary()", {"displaced"}),
    ],
)
def test_a_change_far_away_that_names_what_the_evidence_keeps_is_not_displaced(
    last: str, rules: set[str], tmp_path: Path
) -> None:
    after = KEEPS.replace("return total, recorder.summary()", last)
    kept = (
        KEEPS.splitlines().index("            self.handles.append(module.register_forward_hook(print))") + 1
    )
    setting = established("forward-hooks-never-removed", kept)
    assert {r.rule for r in reviewed(tmp_path, after, setting, KEEPS).reasons} == rules


def test_a_treatment_of_another_cause_is_told_at_the_right_place_too(tmp_path: Path) -> None:
    line = PROGRAM.splitlines().index("        opt.step()") + 1
    after = changed(
        [
            (
                "        opt.step()",
                "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        opt.step()",
            )
        ]
    )
    rules = {r.rule for r in reviewed(tmp_path, after, established("zero-grad-before-step", line)).reasons}
    assert rules == {"another-cause"}
    assert reviewed(tmp_path, after, established("exploding-gradient", line)).passed


def test_a_fix_of_a_refuted_cause_is_told_with_what_refuted_it(tmp_path: Path) -> None:
    refuted = Hypothesis(
        "learning-rate-too-high",
        None,
        1,
        "refuted",
        (Evidence("counterfactual", False, "a tenth is nan too"),),
    )
    others = [
        Hypothesis(c, None, 2, "refuted", (Evidence("replay", False, "measured"),))
        for c in TREATS["the learning rate"]
        if c != refuted.cause
    ]
    setting = Setting(Diagnosis("not-established", None, None, None, (refuted, *others), {}))
    (reason,) = reviewed(tmp_path, changed([("lr=0.1", "lr=0.01")]), setting).reasons
    assert reason.rule == "refuted-cause"


def test_a_healthy_program_needs_no_fix(tmp_path: Path) -> None:
    healthy = Setting(Diagnosis("healthy", None, None, None, (), {}))
    found = reviewed(tmp_path, changed([("lr=0.1", "lr=0.01")]), healthy)
    assert [reason.rule for reason in found.reasons] == ["nothing-to-mend"]
    assert reviewed(tmp_path, changed([("import torch\n", "# a remark\nimport torch\n")]), healthy).passed


def test_a_struck_out_approach_is_told(tmp_path: Path) -> None:
    found = reviewed(tmp_path, changed(GOOD[0]), Setting(None, "3 fixes of this approach did not pass"))
    assert [reason.rule for reason in found.reasons] == ["fourth-variation"]


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "no diff",
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
    ],
)
def test_what_cannot_be_read_is_said(diff: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        review(diff, str(tmp_path))


def test_a_file_that_holds_neither_side_is_said(tmp_path: Path) -> None:
    diff = unified_diff("train.py", PROGRAM, changed(GOOD[0]))
    (tmp_path / "train.py").write_text("something = 'else'\n")
    with pytest.raises(InputError, match="the patch"):
        review(diff, str(tmp_path))


def test_each_treatment_knows_causes_of_the_catalogue() -> None:
    kinds = {*_SETTINGS, *_CALLS, *_KEYWORDS}
    assert kinds <= set(TREATS)
    assert {cause for causes in TREATS.values() for cause in causes} <= set(slugs())
    assert len(RULES) == 14
