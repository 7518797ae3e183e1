"""The specialist module-design-patterns."""

from firstcause.specialists.module_design_patterns import (
    batchnorm_small_batch,
    cached_intermediate_in_checkpointed_block,
    conv_channel_mismatch,
    detached_encoder,
    flatten_linear_mismatch,
    tensor_attribute_not_a_buffer,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "module-design-patterns",
    (
        flatten_linear_mismatch,
        detached_encoder,
        cached_intermediate_in_checkpointed_block,
        conv_channel_mismatch,
        batchnorm_small_batch,
        tensor_attribute_not_a_buffer,
    ),
)
