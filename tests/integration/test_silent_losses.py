"""Losses and targets that nobody means, in trainings that end well: real commands, real forks."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_audit import record

from firstcause.diagnose import diagnose
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis

# Seconds; a few are enough where the cores are free.
BUDGET = 300


def audited(folder: RunFolder) -> Diagnosis:
    return diagnose(folder, lambda failure: Lab(folder, failure, BUDGET))


CASES = [
    ("softmax_twice", "softmax-before-cross-entropy", "nn.Softmax(dim=-1),", "counterfactual"),
    (
        "rewards_avoided",
        "wrong-sign-loss",
        "loss = (policy.log_prob(action) * (reward - 0.45)).mean()",
        "counterfactual",
    ),
    (
        "levels_along_rows",
        "silent-broadcast",
        "noisy = clean + levels[level] * noise",
        "counterfactual",
    ),
    ("best_of_the_batch", "wrong-reduction", "loss = error.min(dim=0).values.mean()", "counterfactual"),
    ("errors_that_cancel", "wrong-reduction", "gap = (prediction - target).mean(dim=1)", "counterfactual"),
    ("lengths_of_the_batch", "wrong-softmax-dim", "return F.normalize(self.net(x), dim=0)", "counterfactual"),
    (
        "mean_beside_a_sum",
        "wrong-reduction",
        "error = (again - x[rows]).square().mean(dim=1).mean()",
        "counterfactual",
    ),
    (
        "targets_in_seconds",
        "loss-term-dominates",
        "first = F.mse_loss(duration(h).squeeze(1), seconds[rows])",
        "counterfactual",
    ),
    (
        "vectors_left_frozen",
        "frozen-by-mistake",
        "self.item = nn.Embedding.from_pretrained(vectors)",
        "counterfactual",
    ),
    (
        "student_of_the_batch",
        "wrong-softmax-dim",
        "said = F.log_softmax(student(x[rows]), dim=0)",
        "counterfactual",
    ),
    ("views_paired_apart", "transpose-by-view", "first, second = z.chunk(2)", "counterfactual"),
    ("warm_up_by_passes", "scheduler-per-batch", "schedule.step()", "counterfactual"),
    ("ring_moves_on", "label-mismatch", "self.payoff[self.at] = payoff", "experiment"),
    ("margins_exchanged", "wrong-sign-loss", "gap = far - near + 0.5", "counterfactual"),
    (
        "workers_drawing_alike",
        "duplicated-worker-seed",
        "self.rng = np.random.default_rng(0)",
        "observation",
    ),
    (
        "average_in_bfloat16",
        "bf16-rounding",
        "self.held[name].lerp_(p.bfloat16(), 1 - self.keep)",
        "experiment",
    ),
    ("both_factors_zero", "bad-initialisation", "nn.init.zeros_(self.inner)", "counterfactual"),
    ("places_one_by_one", "not-shuffled", "rows, ids = x[i : i + 32], place[i : i + 32]", "counterfactual"),
    ("gaps_left_filled", "target-leakage", "series.masked_fill(blank, 0.0)", "observation"),
    ("pupil_of_frozen_half", "frozen-by-mistake", "self.body = deepcopy(large.lower)", "counterfactual"),
    ("flips_of_their_own", "label-mismatch", "image = self.augment(self.images[index])", "experiment"),
    (
        "end_of_its_own",
        "label-mismatch",
        "return (field(along(points, t), t) - velocity).pow(2).mean()",
        "experiment",
    ),
    ("turn_of_the_encoder", "optimizer-step-missing", "self.critic_opt.step()", "counterfactual"),
    (
        "gate_put_in_anew",
        "optimizer-before-params-replaced",
        "layer.shift = nn.Parameter(torch.zeros_like(layer.shift))",
        "counterfactual",
    ),
    (
        "heads_of_one_object",
        "accidentally-shared-parameters",
        "self.heads = nn.ModuleDict(dict.fromkeys(NAMES, head))",
        "counterfactual",
    ),
    ("mean_of_its_own_day", "target-leakage", "recent = smooth[i]", "counterfactual"),
    (
        "prices_sorted_apart",
        "label-mismatch",
        'prices = torch.tensor([r["price"] for r in paid])',
        "experiment",
    ),
    (
        "head_of_the_next_task",
        "optimizer-before-params-replaced",
        "self.net.head = nn.Linear(32, classes)",
        "counterfactual",
    ),
    (
        "targets_two_ahead",
        "label-shift",
        "return F.cross_entropy(logits[:, :-1].reshape(-1, 12), labels[:, 1:].reshape(-1))",
        "observation",
    ),
]


@pytest.mark.parametrize(("program", "cause", "line", "proof"), CASES)
def test_a_loss_that_nobody_means_is_named_with_its_line_and_a_patch(
    program: str, cause: str, line: str, proof: str, tmp_path: Path
) -> None:
    diagnosis = audited(record(program, tmp_path))

    assert (diagnosis.status, diagnosis.cause) == ("established", cause)
    assert diagnosis.site is not None
    assert diagnosis.site.text == line
    assert diagnosis.fix is not None
    confirmed = next(h for h in diagnosis.hypotheses if h.cause == cause)
    assert [(e.kind, bool(e.values)) for e in confirmed.evidence] == [(proof, True)]


def test_costs_teachers_regularisers_and_ignored_padding_are_meant(tmp_path: Path) -> None:
    diagnosis = audited(record("losses_meant", tmp_path))

    assert (diagnosis.status, diagnosis.cause) == ("healthy", None)


def test_ratings_that_are_given_back_are_none(tmp_path: Path) -> None:
    diagnosis = audited(record("ratings_given_back", tmp_path))

    assert (diagnosis.status, diagnosis.cause) == ("healthy", None)


def test_a_series_that_is_predicted_from_itself_is_named_by_the_part_that_looks_ahead(tmp_path: Path) -> None:
    diagnosis = audited(record("readings_seen_ahead", tmp_path))

    assert (diagnosis.status, diagnosis.cause) == ("established", "target-leakage")
    assert diagnosis.site is not None
    assert diagnosis.site.text == "self.inner = nn.Conv1d(1, 12, 3, padding=1)"


def test_a_series_that_is_predicted_from_what_came_before_is_none(tmp_path: Path) -> None:
    diagnosis = audited(record("readings_before_only", tmp_path))

    assert (diagnosis.status, diagnosis.cause) == ("healthy", None)


def test_weights_that_multiply_a_mean_are_named_where_the_mean_is_taken(tmp_path: Path) -> None:
    diagnosis = audited(record("weights_of_a_mean", tmp_path))

    assert (diagnosis.status, diagnosis.cause) == ("established", "wrong-reduction")
    assert diagnosis.site is not None
    assert diagnosis.site.text == "loss = criterion(model(x[rows]), labels[rows])"
