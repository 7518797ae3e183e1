"""Faults as edits of correct programs: each kind names where it can be put in, and the rules that should find it."""

from __future__ import annotations

import ast
import re

from injected import data, loops, losses, modules
from injected.source import Edit, Kind, Source, removed, renamed, swapped, with_keyword, without_keyword

__all__ = ["KINDS", "Edit", "Kind", "Source"]

LOADER = r"([\w.]+\.)?DataLoader"
OPTIMIZER = r"([\w.]*optim\.)(Adam|AdamW|SGD)"
KINDS = (
    Kind(
        "zero_grad removed",
        ("missing-zero-grad",),
        lambda s: removed(s, r"[\w.]+\.zero_grad", lambda c: s.in_loop(c)),
    ),
    Kind(
        "zero_grad between backward and step",
        ("zero-grad-before-step",),
        lambda s: swapped(s, r"[\w.]*optim\w*\.zero_grad", r"\w*loss\w*\.backward"),
    ),
    Kind("eval() removed before an evaluation", ("missing-eval-mode",), loops.eval_removed),
    Kind("no_grad removed around an evaluation", ("missing-no-grad",), loops.no_grad_removed),
    Kind("train() taken out of the loop of epochs", ("eval-mode-in-training",), loops.train_before_loop),
    Kind("softmax in the call of cross_entropy", ("softmax-before-cross-entropy",), losses.softmax_first),
    Kind("softmax at the end of forward", ("softmax-before-cross-entropy",), losses.softmax_in_forward),
    Kind("BCELoss on logits", ("bce-on-logits",), losses.bce_plain),
    Kind("sigmoid before BCE with logits", ("sigmoid-before-bce-logits",), losses.sigmoid_first),
    Kind("loss arguments swapped", ("loss-arguments-swapped",), losses.arguments_swapped),
    Kind(
        "wrong argument name (DataLoader)",
        ("unknown-argument-bs", "unknown-argument"),
        renamed(LOADER, "batch_size", "bs"),
    ),
    Kind("wrong argument name (optimizer)", ("unknown-argument",), renamed(OPTIMIZER, "lr", "learning_rate")),
    Kind(
        "removed argument (TrainingArguments)",
        ("removed-argument", "unknown-argument"),
        renamed(r".*TrainingArguments|\w+Config", "eval_strategy", "evaluation_strategy"),
    ),
    Kind("layers in a plain list", ("unregistered-submodules",), modules.plain_list),
    Kind("buffer as a plain tensor", ("tensor-attribute-not-a-buffer",), modules.plain_tensor),
    Kind("Module's __init__ not called", ("module-init-not-called",), modules.init_removed),
    Kind("running sum without .item()", ("loss-history-keeps-graph",), losses.item_dropped),
    Kind("history without .item()", ("loss-history-keeps-graph",), losses.appended_tensor),
    Kind("loss detached", ("detached-loss",), losses.detached),
    Kind("training under no_grad", ("training-under-no-grad",), loops.frozen),
    Kind("accumulated loss not divided", ("accumulation-not-divided",), losses.accumulation),
    Kind(
        "scheduler before optimizer",
        ("scheduler-before-optimizer",),
        lambda s: swapped(s, r"[\w.]*optim\w*\.step", r"[\w.]*sched\w*\.step"),
    ),
    Kind(
        "scheduler never stepped", ("scheduler-never-stepped",), lambda s: removed(s, r"[\w.]*sched\w*\.step")
    ),
    Kind(
        "optimizer never stepped", ("optimizer-step-missing",), lambda s: removed(s, r"[\w.]*optim\w*\.step")
    ),
    Kind(
        "unscale_ removed before clipping",
        ("clip-before-unscale",),
        lambda s: removed(s, r"[\w.]*scaler\.unscale_"),
    ),
    Kind("clipping after the step", ("clip-after-step",), loops.clip_after_step),
    Kind("scaler removed", ("scaler-missing",), loops.scaler_removed),
    Kind("call without parentheses", ("call-without-parentheses",), modules.no_parentheses),
    Kind("optimizer before the head", ("optimizer-before-params-replaced",), modules.optimizer_early),
    Kind("set_epoch removed", ("sampler-set-epoch-missing",), lambda s: removed(s, r"[\w.]+\.set_epoch")),
    Kind("sampler removed under DDP", ("sampler-missing",), data.sampler_removed),
    Kind("shuffle beside a sampler", ("shuffle-with-sampler",), data.sampler_and_shuffle),
    Kind("training data not shuffled", ("not-shuffled",), data.shuffle_off),
    Kind("checkpoint saved by every rank", ("save-from-every-rank",), data.unguarded_save),
    Kind(
        "strict=False",
        ("load-result-ignored",),
        with_keyword(
            r"[\w.]+\.load_state_dict",
            "strict=False",
            lambda s, c: "optim" not in ast.unparse(c.func) and "sched" not in ast.unparse(c.func),
        ),
    ),
    Kind(
        "map_location removed",
        ("load-without-map-location",),
        without_keyword(r"torch\.load", "map_location"),
    ),
    Kind(
        "weights_only=False",
        ("unsafe-torch-load", "downloaded-pickle"),
        with_keyword(r"torch\.load", "weights_only=False"),
    ),
    Kind("best weights by reference", ("best-weights-by-reference",), modules.best_by_reference),
    Kind("batch not moved to the device", ("missing-device-move",), modules.not_moved),
    Kind("model not moved to the device", ("missing-device-move",), modules.model_not_moved),
    Kind("name misspelt", ("undefined-name",), modules.misspelt),
    Kind("import removed", ("missing-import", "undefined-name"), modules.import_removed),
    Kind("argmax over the batch", ("argmax-over-batch",), losses.argmax_batch),
    Kind("softmax without dim", ("softmax-dim-missing",), without_keyword(r"F\.(log_)?softmax", "dim")),
    Kind("yaml.load with the full loader", ("unsafe-yaml-load",), data.safe_yaml),
    Kind(
        "loss.backward() with accelerate", ("plain-backward-with-accelerate",), loops.backward_of_accelerate
    ),
    Kind("optimizer not prepared", ("accelerate-not-prepared",), loops.not_prepared),
    Kind("evaluated on the training data", ("evaluated-on-training-data",), data.evaluated_on_train),
    Kind("trained on the test split", ("trained-on-test-split",), data.test_split),
    Kind(
        "num_labels removed",
        ("wrong-num-labels", "wrong-model-class"),
        without_keyword(r"[\w.]+ForSequenceClassification\.from_pretrained", "num_labels"),
    ),
    Kind(
        "chat template without the generation prompt",
        ("generation-prompt-missing",),
        without_keyword(r"[\w.]+\.apply_chat_template", "add_generation_prompt"),
    ),
    Kind(
        "drop_last on evaluation data",
        ("evaluation-drops-samples",),
        with_keyword(
            LOADER,
            "drop_last=True",
            lambda s, c: bool(re.match(r"(val|test|eval)\w*", ast.unparse(s.statement(c)))),
        ),
    ),
)
