"""Every way of a program to write a file, one kind a module: led to the scratch folder, where later reads look first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

from firstcause.sandbox.overlay import Overlay
from firstcause.sandbox.writers import (
    arrow_files,
    built_operators,
    changing,
    event_files,
    files,
    hdf5_files,
    layer,
    looking,
    numpy_files,
    rebind,
    safetensors_files,
    shared_libraries,
    sqlite_files,
    torch_files,
    trackers,
)

PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "ctypes.util": shared_libraries.patch,
    "deepspeed.ops.op_builder.builder": built_operators.patch_deepspeed,
    "h5py": hdf5_files.patch,
    "mlflow": trackers.patch_mlflow,
    "numpy.lib._datasource": numpy_files.patch,
    "pyarrow": arrow_files.patch,
    "pyarrow.csv": arrow_files.patch,
    "pyarrow.feather": arrow_files.patch,
    "pyarrow.ipc": arrow_files.patch,
    "pyarrow.json": arrow_files.patch,
    "pyarrow.parquet.core": arrow_files.patch_parquet,
    "safetensors": safetensors_files.patch,
    "sqlite3": sqlite_files.patch,
    "sqlite3.dbapi2": sqlite_files.patch,
    "tensorboard.summary.writer.event_file_writer": event_files.patch_tensorboard,
    "tensorboardX.event_file_writer": event_files.patch_tensorboardx,
    "torch": torch_files.patch_torch,
    "torch.serialization": torch_files.patch_serialization,
    "torch.utils.cpp_extension": built_operators.patch_torch,
    "wandb": trackers.patch_wandb,
    "wandb.sdk.interface.interface_sock": trackers.patch_wandb_interface,
}
# Classes that took functions of ``os`` when they were made: pathlib until 3.10, glob since 3.13, tempfile for deleting.
HOLDERS = (
    ("pathlib", "_NormalAccessor"),
    ("glob", "_StringGlobber"),
    ("tempfile", "_TemporaryFileCloser"),
    ("tempfile", "_TemporaryFileWrapper"),
)


def patches() -> dict[str, Callable[[ModuleType], None]]:
    """What is to be done to a module once it has been imported, by its name; only after ``seal``."""
    return dict(PATCHES)


def lead_to(overlay: Overlay) -> None:
    """Lead the writers of all modules that are loaded to ``overlay``; irreversible."""
    layer.use(overlay)
    files.patch()
    looking.patch()
    changing.patch()
    for name, patch in PATCHES.items():
        module = sys.modules.get(name)
        if module is not None:
            patch(module)
    if "sqlite3" in sys.modules:
        sqlite_files.keep_open(sys.modules["sqlite3"])
    for name, holder in HOLDERS:
        owner = getattr(sys.modules.get(name), holder, None)
        if isinstance(owner, type):
            rebind.in_class(owner)
