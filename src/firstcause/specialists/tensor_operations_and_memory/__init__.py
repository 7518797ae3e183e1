"""The specialist tensor-operations-and-memory."""

from firstcause.specialists.specialist import Specialist
from firstcause.specialists.tensor_operations_and_memory import (
    broadcast_in_loss,
    exception_keeps_frames_alive,
    forward_hooks_never_removed,
    fully_masked_attention_row,
    loss_history_keeps_graph,
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
        forward_hooks_never_removed,
        exception_keeps_frames_alive,
        unbounded_cache,
        wrong_softmax_dim,
        transpose_by_view,
    ),
)
