"""The specialist tensor-operations-and-memory."""

from firstcause.specialists.specialist import Specialist
from firstcause.specialists.tensor_operations_and_memory import (
    activation_peak,
    broadcast_in_loss,
    exception_keeps_frames_alive,
    foreign_process_memory,
    forward_hooks_never_removed,
    fragmentation,
    fully_masked_attention_row,
    loss_history_keeps_graph,
    no_grad_missing_at_eval,
    recurrent_state_keeps_graph,
    transpose_by_view,
    unbounded_cache,
    wrong_softmax_dim,
)

SPECIALIST = Specialist(
    "tensor-operations-and-memory",
    (
        fully_masked_attention_row,
        recurrent_state_keeps_graph,
        broadcast_in_loss,
        loss_history_keeps_graph,
        no_grad_missing_at_eval,
        forward_hooks_never_removed,
        exception_keeps_frames_alive,
        unbounded_cache,
        foreign_process_memory,
        fragmentation,
        activation_peak,
        wrong_softmax_dim,
        transpose_by_view,
    ),
)
