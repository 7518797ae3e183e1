"""The causes of ranks that raise nothing, from what was watched on each: what they see, and what they leave alone."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.specialists.distributed_training_strategies import (
    rank_specific_initial_weights,
    sampler_missing,
    sampler_set_epoch_missing,
    save_on_all_ranks,
)

SITE = {"file": "train.py", "line": 5, "function": "main", "text": "for rows in loader:"}


def one_pass(**changed):
    facts = {
        "loader": 0,
        "made": SITE,
        "site": SITE,
        "sampler": "DistributedSampler",
        "reseeded": True,
        "shuffles": True,
        "samples": 64,
        "given": 8,
        "ended": True,
        "steps": 8,
        "fingerprint": 7,
        "indices": 32,
        "distinct": 32,
        "first": [3, 1],
        "in_order": 11,
        "as_set": 12,
    }
    return facts | changed


def ran(*by_rank):
    standings = [{"rank": r, "audit": facts} for r, facts in enumerate(by_rank)]
    return Ran("ranks", "program", facts={"ranks": standings})


def watched(passes=(), weights=(1, 2), gradients=(3, 4), written=(), read=(), wrapped=False):
    parameters = [[f"p{i}", [2], w, g, 1.0] for i, (w, g) in enumerate(zip(weights, gradients, strict=True))]
    return {
        "batches": {"steps": 8, "passes": list(passes)},
        "replicas": {
            "steps": 8,
            "checks": [{"step": 0, "made": SITE, "wrapped": wrapped, "parameters": parameters}],
        },
        "files": {"written": list(written), "read": list(read)},
    }


def test_an_order_that_repeats_on_all_ranks_is_seen():
    own = [watched([one_pass(in_order=r), one_pass(in_order=r)]) for r in (1, 2)]
    assert "the same order of 32 samples in all 2 epochs" in sampler_set_epoch_missing.seen(ran(*own), None)


def test_an_order_that_changes_or_is_not_shuffled_is_left_alone():
    changes = [watched([one_pass(in_order=r), one_pass(in_order=r + 5)]) for r in (1, 2)]
    plain = [watched([one_pass(shuffles=False), one_pass(shuffles=False)]) for _ in (1, 2)]
    once = [watched([one_pass()]) for _ in (1, 2)]
    for own in (changes, plain, once):
        assert sampler_set_epoch_missing.seen(ran(*own), None) is None


def test_all_samples_on_each_rank_are_seen_in_whatever_order():
    own = [watched([one_pass(sampler="RandomSampler", in_order=r)]) for r in (1, 2)]
    text = sampler_missing.seen(ran(*own), None)
    assert "each of 2 ranks draws the same 32 samples in an epoch, each in an order of its own" in text


def test_a_pass_that_all_ranks_leave_after_as_many_batches_tells_as_well():
    left = [watched([one_pass(sampler="RandomSampler", ended=False, given=4)]) for _ in (1, 2)]
    assert "the same 32 samples" in sampler_missing.seen(ran(*left), None)
    apart = [watched([one_pass(ended=False, given=g)]) for g in (4, 3)]
    assert sampler_missing.seen(ran(*apart), None) is None


def test_shares_of_the_ranks_and_data_of_their_own_are_left_alone():
    shares = [watched([one_pass(as_set=r)]) for r in (1, 2)]
    own_data = [watched([one_pass(fingerprint=r)]) for r in (1, 2)]
    evaluation = [watched([one_pass(steps=0)]) for _ in (1, 2)]
    not_together = [watched([one_pass()], gradients=(r, r)) for r in (1, 2)]
    for own in (shares, own_data, evaluation, not_together):
        assert sampler_missing.seen(ran(*own), None) is None


def test_equal_gradients_on_different_weights_are_seen():
    text = rank_specific_initial_weights.seen(ran(watched(weights=(1, 2)), watched(weights=(1, 9))), None)
    assert text.startswith("before step 0 1 of 2 parameters differ between the ranks")


def test_ranks_that_train_by_themselves_or_start_alike_are_left_alone():
    alike = [watched(), watched()]
    apart = [watched(weights=(1, 2), gradients=(3, 4)), watched(weights=(5, 6), gradients=(7, 8))]
    for own in (alike, apart):
        assert rank_specific_initial_weights.seen(ran(*own), None) is None


def test_one_file_of_several_ranks_is_seen_and_one_each_is_not():
    def file(path, time):
        return {"path": path, "how": "torch.save", "site": SITE, "time": time}

    both = [watched(written=[file("/w/last.pt", t)]) for t in (1.0, 1.5)]
    assert save_on_all_ranks.seen(ran(*both), None) == (
        "ranks 0, 1 all wrote last.pt from its start by torch.save, within 0.5 s"
    )
    each = [watched(written=[file(f"/w/rank{r}.pt", 1.0)]) for r in (0, 1)]
    first = [watched(written=[file("/w/last.pt", 1.0)]), watched()]
    for own in (each, first):
        assert save_on_all_ranks.seen(ran(*own), None) is None
