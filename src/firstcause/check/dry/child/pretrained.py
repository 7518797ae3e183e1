"""Weights that would be downloaded: the architecture is built all the same, and its parameters have no values anyway.

Where a model's configuration is not here either, it is that of its kind by default, and sizes are made up.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
from typing import TYPE_CHECKING, Any

import torch

from firstcause.check.dry.child import words
from firstcause.errors import SealError

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

# What a library says where it finds no file, and the seal where it looks for one elsewhere.
NOT_HERE = (OSError, SealError)
# A name on a hub, which no path is.
REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
# What a configuration is asked for beside its own content.
HOW = frozenset(
    (  # noqa: SIM905
        "cache_dir force_download proxies token use_auth_token local_files_only revision trust_remote_code subfolder "
        "gguf_file code_revision _from_pipeline _from_auto _commit_hash _configuration_file"
    ).split()
)
_sessions: list[Session] = []


class Unset(dict[Any, Any]):
    """The content of a file of weights that is not here: a model takes it, and stays as it is."""

    def __getitem__(self, key: Any) -> Any:
        return self

    def __delitem__(self, key: Any) -> None:
        """Whatever it is, it is not there any more."""

    def pop(self, key: Any, default: Any = None) -> Any:
        return default


def install(session: Session) -> None:
    _sessions[:] = [session]
    hub = torch.hub
    load, from_url = hub.load, hub.load_state_dict_from_url

    def refused(url: Any, *args: Any, **kwargs: Any) -> Any:
        raise SealError("dry-download", f"it downloads {url}")

    @functools.wraps(from_url)
    def weights(url: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return from_url(url, *args, **kwargs)
        except SealError:
            _say(os.path.basename(url))
            return Unset()

    @functools.wraps(load)
    def loaded(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("source") == "local":
            return load(repo_or_dir, model, *args, **kwargs)
        if repo_or_dir.partition(":")[0] != "pytorch/vision":
            refused(f"the code of {model} from {repo_or_dir}")
        for name in ("source", "force_reload", "verbose", "skip_validation", "trust_repo"):
            kwargs.pop(name, None)
        models = importlib.import_module("torchvision.models")
        return getattr(models, model)(*args, **kwargs)

    hub.download_url_to_file, hub.load_state_dict_from_url, hub.load = refused, weights, loaded


def is_unset(state: Any) -> bool:
    """Whether what a model is to load are weights that are not here, or what a program made of them."""
    return isinstance(state, Unset)


def mend_timm(module: Any) -> None:
    """``timm.models._builder``: a model is made before its weights are loaded."""
    load = module.load_pretrained
    module.load_state_dict_from_url = torch.hub.download_url_to_file

    @functools.wraps(load)
    def loaded(model: Any, *args: Any, **kwargs: Any) -> None:
        try:
            load(model, *args, **kwargs)
        except NOT_HERE:
            _taken(model, str((getattr(model, "pretrained_cfg", None) or {}).get("architecture", "a model")))

    module.load_pretrained = loaded


def mend_transformers(module: Any) -> None:
    """``transformers.modeling_utils``: a model is made of its configuration."""
    load = module.PreTrainedModel.from_pretrained.__func__

    @functools.wraps(load)
    def loaded(cls: Any, name: Any, *args: Any, config: Any = None, **kwargs: Any) -> Any:
        try:
            return load(cls, name, *args, config=config, **kwargs)
        except NOT_HERE:
            if not _on_hub(name):
                raise
        if not hasattr(config, "to_dict"):
            config = cls.config_class.from_pretrained(name if config is None else config)
        for key in [k for k in kwargs if hasattr(config, k)]:
            setattr(config, key, kwargs[key])
        dtype = kwargs.get("dtype", kwargs.get("torch_dtype"))
        model = cls(config, *args)
        if isinstance(dtype, torch.dtype):
            model = model.to(dtype)
        if kwargs.get("device_map") is not None:
            model = model.to("cuda")
        _taken(model, name)
        return model.eval()

    module.PreTrainedModel.from_pretrained = _of_class(loaded)


def mend_configurations(module: Any) -> None:
    """``transformers.configuration_utils``: the kind of a model often stands in its name."""
    read = module.PreTrainedConfig.get_config_dict.__func__

    @functools.wraps(read)
    def given(cls: Any, name: Any, **kwargs: Any) -> Any:
        try:
            return read(cls, name, **kwargs)
        except NOT_HERE:
            kind = (cls.model_type or _kind(name)) if _on_hub(name) else ""
            if not kind:
                raise
            _sessions[0].made_up_sizes = True
            _sessions[0].note(
                f"the configuration of {name} is not here: the sizes are those of any {kind} by default"
            )
            return {"model_type": kind}, {key: kwargs[key] for key in kwargs if key not in HOW}

    module.PreTrainedConfig.get_config_dict = _of_class(given)


def mend_tokenizers(module: Any) -> None:
    """Whichever class of ``module`` loads a tokenizer: one of words stands in, of which most are unknown."""
    for owner in ("PreTrainedTokenizerBase", "AutoTokenizer"):
        if hasattr(module, owner):
            _mend_tokenizer(getattr(module, owner))


def _mend_tokenizer(owner: Any) -> None:
    load = owner.from_pretrained.__func__

    @functools.wraps(load)
    def loaded(cls: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return load(cls, name, *args, **kwargs)
        except (*NOT_HERE, ValueError):
            if not _on_hub(name):
                raise
        _sessions[0].made_up_sizes = True
        _sessions[0].note(f"the tokenizer of {name} is not here: one that knows no words is used")
        return words.tokenizer(_kind(name))

    owner.from_pretrained = _of_class(loaded)


def _of_class(function: Any) -> Any:
    return classmethod(function)


def _kind(name: Any) -> str:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    plain = str(name).lower().replace("-", "").replace("_", "")
    kinds = sorted(CONFIG_MAPPING.keys(), key=len, reverse=True)
    return next((k for k in kinds if k.replace("-", "").replace("_", "") in plain), "")


def _on_hub(name: Any) -> bool:
    return isinstance(name, str) and bool(REPOSITORY.fullmatch(name)) and not os.path.exists(name)


def _taken(model: Any, name: str) -> None:
    for module in model.modules():
        module.fc_loaded = True
    _say(name)


def _say(name: str) -> None:
    _sessions[0].note(f"the weights of {name} are not here: the architecture is run without them")
