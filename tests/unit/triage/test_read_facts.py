"""Facts under stable keys: of the failure, its tensors, the machine, the training, and of what somebody writes."""

from __future__ import annotations

import io
from typing import Any

import pytest

from firstcause.triage.read import read


def facts(text: str) -> dict[str, Any]:
    return read(io.BytesIO(text.encode())).facts


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("RuntimeError: The size of tensor a (12) must match the size of tensor b (7) at non-singleton dimension 2", "sizes", [12, 7]),
        ("RuntimeError: The size of tensor a (12) must match the size of tensor b (7) at non-singleton dimension 2", "dim", [2]),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (5x20 and 30x7)", "shapes", ["5x20", "30x7"]),
        ("RuntimeError: stack expects each tensor to be equal size, but got [3, 8] at entry 0 and [3, 9] at entry 1", "shapes", ["[3, 8]", "[3, 9]"]),
        ("RuntimeError: expected scalar type Double but found Float", "dtypes", ["Double", "Float"]),
        ("RuntimeError: Input type (double) and bias type (c10::BFloat16) should be the same", "dtypes", ["c10::BFloat16", "double"]),
        ("RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:3 and cpu!", "devices", ["cuda:3", "cpu"]),
        ("RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.", "op", ["LogBackward0"]),
        ("../aten/Loss.cu:1: f: block: [0,0,0], thread: [1,0,0] Assertion `a >= 0 && b` failed.", "assert", ["a >= 0 && b"]),
        ("DataLoader worker (pid 991) is killed by signal: Killed.", "pids", [991]),
        ("DataLoader worker (pid 991) is killed by signal: Killed.", "signal", ["Killed"]),
        ("traceback : Signal 11 (SIGSEGV) received by PID 77", "signal", ["SIGSEGV", "11"]),
        ("slurmstepd: error: exited with exit code 137", "exit_code", [137]),
        ("it dies in one run out of 12, always", "rate", ["one run out of 12"]),
        ("torch 2.6.0+cu124, transformers==4.50.1, NCCL version 2.21.5", "versions", {"torch": "2.6.0+cu124", "transformers": "4.50.1", "nccl": "2.21.5"}),
        ("PyTorch version: 2.1, python 3.11, CUDA 12", "versions", {"torch": "2.1", "python": "3.11", "cuda": "12"}),
        ("on 4x H100 and an RTX 4090", "gpus", ["4x H100", "RTX 4090"]),
        ("with bs 16 and lr 3e-5, seq_len=2048, use_cache=True", "settings", ["seq_len=2048", "use_cache=True", "bs 16", "lr 3e-5"]),
        ("loss was 2.5 3.75 then nan", "losses", ["2.5 3.75 then nan"]),
        ("Epoch 4, step 1200: loss=nan", "steps", [1200]),
        ("Epoch 4, step 1200: loss=nan", "epochs", [4]),
        ("Error 802: system not yet initialized", "error_code", [802]),
        ("nvcc built for sm_90a", "arch", ["sm_90a"]),
        ("it happens with 3 workers and 40% of the samples", "numbers", ["3 workers", "40%"]),
        ("only the following keys: logits,hidden. For reference", "keys", ["logits,hidden"]),
    ],
)  # fmt: skip
def test_a_fact_is_found(text: str, key: str, value: Any) -> None:
    assert facts(text)[key] == value


def test_the_figures_of_memory() -> None:
    text = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 2 has a total capacity of 39.39 GiB of which "
        "800.06 MiB is free. Process 555 has 10.00 GiB memory in use. Including non-PyTorch memory, this process has 28.00 GiB "
        "memory in use. Of the allocated memory 25.10 GiB is allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated."
    )
    found = facts(text)
    assert found["gib"] == {
        "tried": "1.25 GiB",
        "total": "39.39 GiB",
        "free": "800.06 MiB",
        "allocated": "25.10 GiB",
        "reserved_unallocated": "1.20 GiB",
        "this_process": "28.00 GiB",
        "other_process": "10.00 GiB",
    }
    assert (found["exception"], found["pids"]) == ("torch.OutOfMemoryError", [555])


def test_the_prefix_by_which_the_keys_of_a_state_dict_differ() -> None:
    found = facts(
        'RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "fc.weight", "fc.bias". \n'
        '\tUnexpected key(s) in state_dict: "backbone.fc.weight", "backbone.fc.bias". \n'
    )
    assert found["prefix"] == "backbone."
    assert found["keys"] == ["fc.weight", "fc.bias", "backbone.fc.weight", "backbone.fc.bias"]


def test_the_innermost_own_frame_of_the_first_exception() -> None:
    found = facts(
        'Traceback (most recent call last):\n  File "main.py", line 5, in <module>\n    fit()\n  File "model.py", line 8, in forward\n'
        '    x = F.softmax(y)\n  File "/x/site-packages/torch/nn/functional.py", line 9, in softmax\n    return f(x)\nIndexError: bad dim\n'
    )
    assert (found["user_frame"], found["frames"], found["op"]) == ("model.py:8", ["main.py:5"], ["softmax"])


def test_a_place_that_somebody_names() -> None:
    assert facts("it always dies at models/net.py:41, in the loss")["user_frame"] == "models/net.py:41"


def test_an_error_quoted_in_a_sentence() -> None:
    found = facts("after a while I get 'ValueError: can't take so few', it's always the same")
    assert (found["exception"], found["message"]) == ("ValueError", "can't take so few")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("my GPU is half empty", "dtypes"),
        ("before I burn 300 gpu hours", "world_sizes"),
        ("model = AutoModel.from_pretrained(path)", "settings"),
        ("I read the docs", "numbers"),
        ("py-spy says all_reduce (distributed_c10d.py:2501)", "user_frame"),
        ("Message: In PyTorch 2.6, we changed the default", "versions"),
        ("frame #0: f + 0x57 (0x7f in libc10.so)", "shapes"),
        ("at 10:11:12 it stopped", "shapes"),
    ],
)
def test_what_only_looks_like_a_fact_is_none(text: str, key: str) -> None:
    assert key not in facts(text)


def test_prose_code_and_log_are_told_apart() -> None:
    text = """\
My training stops, can you help?
2025-01-01 10:00:00 INFO trainer.py:12] starting
{'loss': 1.25, 'epoch': 0.1}
 40%|████      | 4/10 [00:01<00:02,  2.00it/s]
for x in loader:
    loss = net(x)
loss.backward()
```python
opt.step()
```
RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
num_workers=2, is that too few?
"""
    found = read(io.BytesIO(text.encode()))
    assert found.prose == "My training stops, can you help?\nnum_workers=2, is that too few?"
    assert found.code == "for x in loader:\n    loss = net(x)\nloss.backward()\nopt.step()"
    assert [seen.pattern for seen in found.seen] == ["no-grad-fn"]
