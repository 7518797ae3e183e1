"""Which way a figure goes, by its name; a name that does not surely say it says nothing."""

from __future__ import annotations

import pytest

from firstcause.check.figures import better

LOWER = ("eval_wer", "val/loss", "valid_dice_loss", "eval_squad_perplexity", "val_char_error_rate", "valLoss", "test.rmse",
         "mean_absolute_error", "eval_negative_log_likelihood", "val_eer", "loss_epoch")  # fmt: skip
HIGHER = ("val_acc", "eval_f1_macro", "val/acc@1", "rougeLsum", "eval_rougeL", "macro-f1", "roc_auc", "valAcc",
          "eval_exact_match", "recall_at_10", "val_mIoU", "eval_rewards/accuracies", "average_precision", "map_50")  # fmt: skip
UNKNOWN = ("quality", "val_score", "neg_mean_squared_error", "1-wer", "-val_loss", "accuracy_gap", "wer_improvement",
           "acc_error", "f1_threshold", "", "epoch", "inverse_perplexity", "loss_ratio", "bitmap", "one_minus_cer")  # fmt: skip


@pytest.mark.parametrize("name", LOWER)
def test_lower_is_better(name: str) -> None:
    assert better(name) == "lower"


@pytest.mark.parametrize("name", HIGHER)
def test_higher_is_better(name: str) -> None:
    assert better(name) == "higher"


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_name_that_does_not_say_it(name: str) -> None:
    assert better(name) is None
