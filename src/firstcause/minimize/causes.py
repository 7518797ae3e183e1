"""What a cause that raises nothing breaks, by the name of the invariant. No torch here."""

from __future__ import annotations

# By cause: what it breaks.
BROKEN_BY = {
    "broadcast-in-loss": "shapes",
    "silent-broadcast": "shapes",
    "softmax-before-cross-entropy": "logits",
    "detached-encoder": "reached",
    "dead-relu-init": "alive",
    "wrong-backward-formula": "derived",
}
