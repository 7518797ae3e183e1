"""The specialist tensor-operations-and-memory."""

from firstcause.specialists.specialist import Specialist
from firstcause.specialists.tensor_operations_and_memory import (
    broadcast_in_loss,
    fully_masked_attention_row,
    recurrent_state_keeps_graph,
)

SPECIALIST = Specialist(
    "tensor-operations-and-memory",
    (
        fully_masked_attention_row,
        recurrent_state_keeps_graph,
        broadcast_in_loss,
    ),
)
