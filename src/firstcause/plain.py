"""Values as JSON holds them; apart from the vocabulary, so that an observed process need not load that."""

from __future__ import annotations

import dataclasses
import math
from typing import Any


def to_plain(value: Any) -> Any:
    """A value of the vocabulary as JSON-ready dicts, lists and scalars; NaN and infinities as strings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has no NaN; a strict reader elsewhere must still be able to load the file.
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
