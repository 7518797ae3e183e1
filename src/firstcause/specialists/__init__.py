"""One package a specialist: each proposes causes for a symptom and settles them on evidence."""

from firstcause.specialists.checkpointing_and_reproducibility import SPECIALIST as CHECKPOINTS
from firstcause.specialists.custom_autograd_functions import SPECIALIST as AUTOGRAD
from firstcause.specialists.data_loading import SPECIALIST as DATA
from firstcause.specialists.debugging_techniques import SPECIALIST as DEBUGGING
from firstcause.specialists.distributed_training_strategies import SPECIALIST as RANKS
from firstcause.specialists.mixed_precision_and_optimization import SPECIALIST as OPTIMIZATION
from firstcause.specialists.module_design_patterns import SPECIALIST as MODULES
from firstcause.specialists.performance_profiling import SPECIALIST as PERFORMANCE
from firstcause.specialists.specialist import CauseModule
from firstcause.specialists.tensor_operations_and_memory import SPECIALIST as TENSORS

# In the order in which a symptom is shown to them: the cheapest to refute first.
SPECIALISTS = (DATA, DEBUGGING, TENSORS, AUTOGRAD, MODULES, OPTIMIZATION, CHECKPOINTS, PERFORMANCE, RANKS)
CAUSES: dict[str, CauseModule] = {c: m for s in SPECIALISTS for c, m in s.causes.items()}
