"""The watchers of the dry run, one a file."""

from __future__ import annotations

from firstcause.check.dry.child.watcher import Watcher
from firstcause.check.dry.child.watchers.bce_on_logits import BceOnLogits
from firstcause.check.dry.child.watchers.broadcast_in_loss import BroadcastInLoss
from firstcause.check.dry.child.watchers.cleared_before_step import ClearedBeforeStep
from firstcause.check.dry.child.watchers.clip_before_unscale import ClipBeforeUnscale
from firstcause.check.dry.child.watchers.ddp_unused import DdpUnused
from firstcause.check.dry.child.watchers.detached_loss import DetachedLoss
from firstcause.check.dry.child.watchers.eval_in_training import EvalInTraining
from firstcause.check.dry.child.watchers.gradients_not_cleared import GradientsNotCleared
from firstcause.check.dry.child.watchers.graph_kept import GraphKept
from firstcause.check.dry.child.watchers.hooks_pile_up import HooksPileUp
from firstcause.check.dry.child.watchers.loss_arguments_swapped import LossArgumentsSwapped
from firstcause.check.dry.child.watchers.memory import Memory
from firstcause.check.dry.child.watchers.no_gradient import NoGradient
from firstcause.check.dry.child.watchers.not_divided import NotDivided
from firstcause.check.dry.child.watchers.not_optimized import NotOptimized
from firstcause.check.dry.child.watchers.nothing_loaded import NothingLoaded
from firstcause.check.dry.child.watchers.sampler_missing import SamplerMissing
from firstcause.check.dry.child.watchers.scaler_missing import ScalerMissing
from firstcause.check.dry.child.watchers.schedule_order import ScheduleOrder
from firstcause.check.dry.child.watchers.schedule_per_batch import SchedulePerBatch
from firstcause.check.dry.child.watchers.set_epoch_missing import SetEpochMissing
from firstcause.check.dry.child.watchers.sigmoid_before_logits import SigmoidBeforeLogits
from firstcause.check.dry.child.watchers.softmax_before_cross_entropy import SoftmaxBeforeCrossEntropy
from firstcause.check.dry.child.watchers.train_in_evaluation import TrainInEvaluation
from firstcause.check.dry.child.watchers.unregistered import Unregistered

WATCHERS: tuple[type[Watcher], ...] = (
    GradientsNotCleared,
    ClearedBeforeStep,
    NotOptimized,
    Unregistered,
    NoGradient,
    DetachedLoss,
    EvalInTraining,
    TrainInEvaluation,
    SoftmaxBeforeCrossEntropy,
    SigmoidBeforeLogits,
    BceOnLogits,
    LossArgumentsSwapped,
    BroadcastInLoss,
    ScalerMissing,
    ClipBeforeUnscale,
    ScheduleOrder,
    SchedulePerBatch,
    SamplerMissing,
    SetEpochMissing,
    DdpUnused,
    GraphKept,
    HooksPileUp,
    NothingLoaded,
    NotDivided,
    Memory,
)
