"""The specialist module-design-patterns."""

from firstcause.specialists.module_design_patterns import (
    accidentally_shared_parameters,
    bad_initialisation,
    batchnorm_small_batch,
    cached_intermediate_in_checkpointed_block,
    conv_channel_mismatch,
    dead_relu_init,
    detached_encoder,
    dropout_active_at_eval,
    flatten_linear_mismatch,
    frozen_by_mistake,
    optimizer_before_params_replaced,
    saturated_activation,
    sigmoid_before_bce_logits,
    softmax_before_cross_entropy,
    tensor_attribute_not_a_buffer,
    unregistered_submodules,
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
        softmax_before_cross_entropy,
        sigmoid_before_bce_logits,
        unregistered_submodules,
        optimizer_before_params_replaced,
        dropout_active_at_eval,
        accidentally_shared_parameters,
        frozen_by_mistake,
        dead_relu_init,
        saturated_activation,
        bad_initialisation,
    ),
)
