"""One thing that the code sets, in the terms in which people ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firstcause.schema.site import Site

# What ``freeze_feature_encoder`` of speech models freezes: the convolutions before the transformer.
FEATURES = "feature encoder"
# The key of facts that an instruction of batch_size for evaluation is held against.
EVAL_BATCH = "eval_batch_size"


@dataclass(frozen=True)
class Fact:
    """A key of the instructions, the value that the code gives it, and the place to change.

    ``value`` is normalised as an instruction's is. ``how`` names the argument or construct that sets it, such as
    ``TrainingArguments(learning_rate=)``. ``sure`` is False where a command line or an unread config may say otherwise.
    ``explicit`` is False for a library's default. ``reason`` is a comment of the code's author that explains the choice.
    ``confirms`` marks what may agree with an instruction and never contradicts it: a name that says what it holds, whose
    use the code does not prove. ``use`` is where the value is handed over, where ``site`` is further up. A value of None
    says that the code sets it and does not tell to what.
    """

    key: str
    value: Any
    site: Site
    how: str
    argument: str = ""
    sure: bool = True
    explicit: bool = True
    reason: str = ""
    confirms: bool = False
    use: Site | None = None
