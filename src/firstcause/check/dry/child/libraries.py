"""Libraries that look into a tensor's memory, or count batches themselves: mended as they are imported."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from firstcause.check.dry.child import generation, pretrained, safetensors_files
from firstcause.check.dry.child.loops import PASSES
from firstcause.sandbox import seal, writers

Mend = Callable[[ModuleType], None]


def install() -> None:
    sys.meta_path.insert(0, _Finder())
    for name, mend in MENDS.items():
        if name in sys.modules:
            mend(sys.modules[name])


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        mends = [mend for mend in (_sealing(name), MENDS.get(name)) if mend is not None]
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not (generation.shortened(name, spec) or mends):
            return None
        if mends and spec.loader is not None:
            spec.loader.exec_module = functools.partial(  # type: ignore[method-assign]
                _run, spec.loader.exec_module, mends
            )
        return spec


def _sealing(name: str) -> Mend | None:
    """What leads the writers of a module to the layer; before the seal there is none, and the seal has seen to the rest."""
    return writers.patches().get(name) if seal.report() is not None else None


def _run(execute: Callable[[ModuleType], None], mends: list[Mend], module: ModuleType) -> None:
    execute(module)
    for mend in mends:
        mend(module)


def _shared_weights(module: Any) -> None:
    """Two tensors share memory where they share a storage: the address of all is zero here."""
    module.id_tensor_storage = lambda tensor: (
        tensor.device,
        tensor.untyped_storage()._cdata,
        tensor.untyped_storage().nbytes(),
    )


def _tokenizers(module: Any) -> None:
    """They are written by native code, which the seal keeps from every folder."""
    pretrained.mend_tokenizers(module)
    module.PreTrainedTokenizerBase.save_pretrained = lambda self, *args, **kwargs: ()


def _trainer(module: Any) -> None:
    """Lightning's own limits end its loops, so that it validates behind them."""
    begin = module.Trainer.__init__

    @functools.wraps(begin)
    def created(self: Any, *args: Any, **kwargs: Any) -> None:
        batches = PASSES * int(kwargs.get("accumulate_grad_batches") or 1)
        kwargs["limit_train_batches"] = batches
        kwargs["limit_val_batches"] = kwargs["limit_test_batches"] = kwargs["num_sanity_val_steps"] = 2
        for name, most in (("max_epochs", PASSES), ("max_steps", 2 * PASSES)):
            given = kwargs.get(name)
            if isinstance(given, int) and given > most:
                kwargs[name] = most
        if kwargs.get("max_epochs") in (None, -1):
            # It would take a thousand, or go on until a step, a time, or for ever.
            kwargs["max_epochs"] = PASSES
        if isinstance(kwargs.get("val_check_interval"), int):
            kwargs["val_check_interval"] = 1.0
        begin(self, *args, **kwargs)

    module.Trainer.__init__ = created


def _stubs(module: Any) -> None:
    """Where to look for stubs, which argument parsers read, it asks another Python than this one."""
    search = module.get_search_context

    @functools.wraps(search)
    def here(**kwargs: Any) -> Any:
        if kwargs.get("python_executable") is None:
            kwargs.setdefault("search_path", [Path(path) for path in sys.path if path])
        return search(**kwargs)

    module.get_search_context = here


MENDS: dict[str, Mend] = {
    "safetensors": safetensors_files.mend,
    "safetensors.torch": safetensors_files.mend_torch,
    "transformers.pytorch_utils": _shared_weights,
    "transformers.tokenization_utils_base": _tokenizers,
    "transformers.models.auto.tokenization_auto": pretrained.mend_tokenizers,
    "transformers.configuration_utils": pretrained.mend_configurations,
    "transformers.modeling_utils": pretrained.mend_transformers,
    "typeshed_client.finder": _stubs,
    "timm.models._builder": pretrained.mend_timm,
    "lightning.pytorch.trainer.trainer": _trainer,
    "pytorch_lightning.trainer.trainer": _trainer,
}
