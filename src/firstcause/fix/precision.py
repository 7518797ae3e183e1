"""What a floating-point type does to a constant: whether an epsilon survives in it, and the smallest that does."""

from __future__ import annotations

import struct

# The distance from 1.0 to the next number, by the name of the type.
RESOLUTION = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# What a clamp or a sum keeps away from zero: far below what a model's values mean, far above the type's smallest
# number; in float16 one over it has to stay below 65504 as well.
NEAR_ZERO = {"float64": "1e-12", "float32": "1e-12", "float16": "1e-4", "bfloat16": "1e-12"}


def type_name(dtype: object) -> str:
    """``float32`` for ``torch.float32`` or ``float32``; float32 where nothing is said."""
    name = str(dtype or "float32").rpartition(".")[2]
    return name if name in RESOLUTION else "float32"


def is_integer(dtype: object) -> bool:
    """Whether a type's name is that of whole numbers."""
    return str(dtype or "").rpartition(".")[2] in (
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "long",
        "int",
        "bool",
    )


def rounded(value: float, dtype: str) -> float:
    """A number as a floating-point type stores it; infinity where it is too large."""
    if dtype == "float64":
        return value
    code = "e" if dtype == "float16" else "f"
    try:
        packed = struct.pack(code, value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    if dtype == "bfloat16":
        bits = struct.unpack("I", packed)[0]
        # Round to nearest, ties to even, as torch does.
        packed = struct.pack("I", (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000)
    return float(struct.unpack(code, packed)[0])


def vanishes(value: float, dtype: str) -> bool:
    """Whether a number that is not 0 or 1 becomes exactly that."""
    stored = rounded(value, dtype)
    return stored in (0.0, 1.0, -1.0) and stored != value


def near_one(dtype: str) -> str:
    """The smallest power of ten that is at least the type's resolution, so that 1 minus it is below 1."""
    exponent = 0
    while 10.0 ** -(exponent + 1) >= RESOLUTION[dtype]:
        exponent += 1
    return f"1e-{exponent}"
