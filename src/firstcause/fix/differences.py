"""How the shapes of two operands of an addition differ: in their channels, or in space as by a stride."""

from __future__ import annotations

from dataclasses import dataclass

from firstcause.fix.operations import Facts


@dataclass(frozen=True)
class Difference:
    """Two shapes that cannot be added, the batch first and the channels second."""

    left: tuple[int, ...]
    right: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.left} and {self.right}"

    @property
    def in_channels(self) -> bool:
        return len(self.left) == len(self.right) and len(self.left) > 1 and self.left[1] != self.right[1]

    @property
    def in_space(self) -> bool:
        """Whether every differing axis after the channels is smaller by a factor, as a stride makes it."""
        pairs = [
            (max(a, b), min(a, b)) for a, b in zip(self.left[2:], self.right[2:], strict=False) if a != b
        ]
        return bool(pairs) and all(small > 0 and large >= 2 * small - 1 for large, small in pairs)


def difference_of(facts: Facts) -> Difference:
    """The shapes that the facts hold."""
    left, right = (tuple(int(n) for n in facts.get(key) or ()) for key in ("left_shape", "right_shape"))
    return Difference(left, right)
