"""The names of a library's classes and functions as its documentation writes them."""

from __future__ import annotations

# Where the classes that people import really live; the short way is the one that documentation uses.
_LONG = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.utils.data.distributed.", "torch.utils.data."),
    ("torch.cuda.amp.grad_scaler.", "torch.cuda.amp."),
    ("torch.amp.grad_scaler.", "torch.amp."),
    ("torch.amp.autocast_mode.", "torch.amp."),
    ("torch.cuda.amp.autocast_mode.", "torch.cuda.amp."),
    ("torch.nn.parallel.distributed.", "torch.nn.parallel."),
    ("transformers.trainer.", "transformers."),
    ("transformers.training_args.", "transformers."),
    ("pytorch_lightning.", "lightning."),
    ("lightning.pytorch.", "lightning."),
    ("peft.tuners.lora.", "peft."),
    ("trl.trainer.", "trl."),
    ("vllm.sampling_params.", "vllm."),
    ("vllm.entrypoints.llm.", "vllm."),
)


def shortest(name: str) -> str:
    """A library's dotted name as its documentation writes it: ``torch.nn.Linear``, ``lightning.Trainer``."""
    for long, short in _LONG:
        if name.startswith(long):
            return short + name.rpartition(".")[2]
    if (
        name.startswith("torch.optim.")
        and name.count(".") == 3
        and not name.startswith("torch.optim.lr_scheduler.")
    ):
        return "torch.optim." + name.rpartition(".")[2]
    return name
