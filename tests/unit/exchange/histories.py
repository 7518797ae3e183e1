"""Histories as other programs write them."""

from __future__ import annotations

import json
import math
import struct
import zlib
from pathlib import Path

STEPS = 30
BAD = 27


def loss(step: int) -> float:
    return math.nan if step >= BAD else 2.0 / (1 + step)


def trainer_state(folder: Path, factor: float = 1.0) -> Path:
    """A checkpoint of the Trainer: the loss every step, an evaluation every ten, a summary at the end."""
    log = [
        {"loss": factor * loss(s), "grad_norm": 1.5, "learning_rate": 1e-3, "epoch": s / 10, "step": s}
        for s in range(STEPS)
    ]
    log += [{"eval_loss": 1.0, "eval_accuracy": 0.5, "epoch": 1.0, "step": s} for s in (10, 20)]
    log += [{"train_runtime": 12.0, "train_loss": 0.7, "total_flos": 1e9, "epoch": 3.0, "step": STEPS}]
    path = folder / "outputs" / "checkpoint-30" / "trainer_state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"log_history": log, "max_steps": STEPS, "global_step": STEPS}))
    (folder / "outputs" / "checkpoint-4").mkdir(exist_ok=True)
    (folder / "outputs" / "checkpoint-4" / "trainer_state.json").write_text('{"log_history": []}')
    return folder / "outputs"


def events(folder: Path) -> Path:
    """Event files of a training and, in a folder of its own, of its evaluation; and one value in the newer form."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder / "runs"))
    for step in range(STEPS):
        values = [
            Summary.Value(tag="train/loss", simple_value=loss(step)),
            Summary.Value(tag="lr-Adam", simple_value=1e-3),
        ]
        writer.add_event(Event(wall_time=1_000.0 + 2 * step, step=step, summary=Summary(value=values)))
    writer.close()
    beside = EventFileWriter(str(folder / "runs" / "eval"))
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    for step in (10, 20):
        tensor = TensorProto(dtype=1, float_val=[step / 100])
        value = Summary.Value(tag="accuracy", tensor=tensor, metadata=metadata if step == 10 else None)
        beside.add_event(Event(wall_time=2_000.0, step=step, summary=Summary(value=[value])))
    beside.close()
    return folder / "runs"


def offline_run(folder: Path) -> Path:
    """An offline run of W&B, byte for byte as its library writes one."""
    top = folder / "wandb" / "offline-run-20260101_090000-x1"
    top.mkdir(parents=True)
    messages = [_field(17, _field(1, b"x1") + _field(3, b"tides") + _field(8, b"first"))]
    for step in range(STEPS):
        value = "NaN" if step >= BAD else json.dumps(loss(step))
        items = {
            "train/loss": value,
            "_step": str(step),
            "_timestamp": str(1_000.5 + step),
            "note": '"a word"',
        }
        logged = [_field(1, k.encode()) + _field(16, v.encode()) for k, v in items.items()]
        nested = _field(2, b"eval") + _field(2, b"acc") + _field(16, b"0.5")
        messages.append(_field(2, b"".join(_field(1, item) for item in [*logged, nested])))
        # Longer than a block of the file.
        messages.append(_field(4, b"x" * 40_000))
    (top / "run-x1.wandb").write_bytes(_log(messages))
    return top


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes in protobuf's wire format."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    found = b""
    while value >= 128:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def _log(messages: list[bytes]) -> bytes:
    """Records in LevelDB's log format: in pieces that lie within blocks of 32 KiB."""
    out = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
    for message in messages:
        rest, first = message, True
        while first or rest:
            room = 32768 - len(out) % 32768
            if room < 7:
                out += bytes(room)
                continue
            piece, rest = rest[: room - 7], rest[room - 7 :]
            kind = (1 if first else 4) if not rest else (2 if first else 3)
            check = zlib.crc32(piece, zlib.crc32(bytes([kind])))
            out += struct.pack("<IHB", check, len(piece), kind) + piece
            first = False
    return out
