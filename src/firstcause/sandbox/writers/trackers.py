"""wandb and mlflow: they talk to a server or a process of their own, so in a replay they say nothing."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

WANDB = (
    "log",
    "save",
    "watch",
    "unwatch",
    "finish",
    "alert",
    "log_code",
    "define_metric",
    "mark_preempting",
    "write_logs",
    "display",
    "restore",
    "link_artifact",
    "use_artifact",
    "log_artifact",
    "upsert_artifact",
    "finish_artifact",
    "log_model",
    "use_model",
    "link_model",
    "pin_config_keys",
)
MLFLOW = (
    "log_metric",
    "log_metrics",
    "log_param",
    "log_params",
    "log_artifact",
    "log_artifacts",
    "log_dict",
    "log_figure",
    "log_image",
    "log_text",
    "log_table",
    "log_input",
    "log_inputs",
    "set_tag",
    "set_tags",
    "set_experiment",
    "set_experiment_tag",
    "set_tracking_uri",
    "set_registry_uri",
    "start_run",
    "end_run",
    "create_experiment",
    "autolog",
    "register_model",
    "log_model",
    "flush_async_logging",
    "flush_artifact_async_logging",
)


class Inert:
    """Stands for a run of a tracker: everything can be asked of it, and nothing happens."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        return None

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> Inert:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __str__(self) -> str:
        return "sealed"


def _silent(*args: Any, **kwargs: Any) -> Inert:
    return Inert()


def patch_wandb(module: ModuleType) -> None:
    running = module.run
    if running is not None:
        # Else it would connect from this process as well, when it is next asked for anything.
        running._attach_pid = os.getpid()

    def init(*args: Any, **kwargs: Any) -> Any:
        return running or Inert()

    for owner in (module, getattr(module, "Run", None)):
        for name in WANDB:
            if hasattr(owner, name):
                setattr(owner, name, _silent)
    module.init = init  # type: ignore[attr-defined]
    for name in ("login", "setup", "teardown", "sweep", "agent"):
        setattr(module, name, _silent)


def patch_wandb_interface(module: ModuleType) -> None:
    """The summary and the config of a run that is open send what is set in them."""
    module.InterfaceSock._publish = _silent


def patch_mlflow(module: ModuleType) -> None:
    for name in MLFLOW:
        if name in vars(module):
            setattr(module, name, _silent)
