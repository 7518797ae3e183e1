"""Programs that ask the emulation for what it has no ready answer to; each is run to its end, and asserts what it got."""

from __future__ import annotations

EMULATED = {
    "masks": """
for d in ("cpu", "cuda"):
    x = torch.randn(4, 5, device=d)
    x[x > 0] = 1.0
    x[x > 0] += 1
    assert x[x > 0].device.type == d
    x[(x > 0).any(1), 0] = 3
    assert (x > 0).nonzero().shape[1] == 2 and (x > 0).nonzero().device.type == d
    rows, columns = torch.where(x > 0)
    assert x[rows, columns].shape == rows.shape
    with torch.inference_mode():
        assert x[x > 0].dim() == 1
""",
    "masks_in_backward": """
class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        g[g > 0] = 0
        return g

x = torch.randn(4, 5, device="cuda", requires_grad=True)
Clipped.apply(x).sum().backward()
assert x.grad.shape == x.shape
""",
    "counted": """
for d in ("cpu", "cuda"):
    x = torch.randint(0, 9, (300, 500), device=d)
    found, at, many = x.unique(return_inverse=True, return_counts=True)
    assert found.device.type == at.device.type == d and at.shape == x.shape and many.shape == found.shape
    found, at = x.unique(dim=1, return_inverse=True)
    assert found.shape[0] == 300 and at.shape == (500,)
    assert torch.unique_consecutive(x, dim=0).shape[1] == 500
    many = x.flatten().bincount(minlength=9)
    assert many.device.type == d and many.shape == (9,)
    assert x[:, 0].repeat_interleave(x[:, 1]).device.type == d
    assert x[:, 0].repeat_interleave(x[:, 1], output_size=7).shape == (7,)
""",
    "counted_numbers_that_are_known": """
y = torch.tensor([3, 1, 3, 0])
assert y.unique().tolist() == [0, 1, 3]
assert torch.where(y == 3)[0].tolist() == [0, 2]
assert y[y > 0].tolist() == [3, 1, 3]
assert y.bincount().tolist() == [1, 1, 0, 2]
assert not torch.equal(y, torch.tensor([1, 2, 3, 4]))
assert torch.arange(3).repeat_interleave(torch.tensor([1, 0, 2])).tolist() == [0, 2, 2]
mask = torch.rand(4) > 0.5
assert torch.arange(4)[mask].constant is None and y.new_empty(3).constant is None
table = torch.zeros(4, 2, dtype=torch.int64)
table[torch.arange(4)[mask], y[mask] * 0] = y[mask]
y[y > 2] = 7
assert y.tolist() == [7, 1, 7, 0]
assert torch.randn(4, 2, device="cuda")[y > 0].shape == (3, 2)
""",
    "moved_constants": """
y = torch.arange(8)
with torch.inference_mode():
    assert y.to("cuda").device.type == "cuda" and y.cuda().device.type == "cuda"
    assert y.to(torch.device("cuda"), torch.float32, non_blocking=True).dtype == torch.float32
    assert y.to(y.cuda()).device.type == "cuda"
for made in (torch.zeros_like(y, device="cuda"), y.new_zeros(3, device="cuda"), y.new_full((3,), 2, device="cuda")):
    assert made.device.type == "cuda"
assert y.tolist() == list(range(8))
""",
    "numbers_among_which_are_tensors": """
for d in ("cpu", "cuda"):
    a, n = torch.randn(3, device=d).sum(), torch.randn(3, device=d).argmax()
    assert torch.tensor([a, 3.0], device=d).device.type == d
    assert torch.as_tensor([[a, 1], [2, a]]).shape == (2, 2)
    assert torch.tensor([n, 2]).dtype == torch.int64
    assert torch.tensor([a.double(), 1.0]).dtype == torch.float64
    assert torch.tensor([a.half(), n]).dtype == torch.float16
    assert a.new_tensor([n, 1]).dtype == torch.float32
    assert torch.Tensor([a, 2]).shape == torch.LongTensor([n, 2]).shape == (2,)
    assert float(a) == 1.0 and int(a) == 1 and "abc"[n] == "b"
assert torch.tensor([torch.tensor(5), 2]).tolist() == [5, 2]
try:
    torch.tensor([torch.randn(2), torch.randn(2)])
except (TypeError, ValueError):
    refused = True
assert refused
""",
    "cuda_by_name": """
cuda = torch.cuda
cuda.current_stream(device=torch.device("cuda"))
cuda.default_stream(device=0)
with cuda.stream(stream=cuda.Stream(device=0, priority=-1)), cuda.device(device=0):
    cuda.current_stream().wait_stream(stream=cuda.Stream())
event = cuda.Event(enable_timing=True)
event.record(stream=cuda.current_stream())
assert event.elapsed_time(end_event=cuda.Event()) > 0
assert cuda.get_device_name(device=0) and cuda.get_device_capability(device=0) == (8, 0)
assert cuda.get_device_properties(device=0).total_memory == cuda.mem_get_info(device=0)[0]
cuda.set_rng_state(cuda.get_rng_state(device="cuda"), device="cuda")
assert cuda.memory_stats(device=0)["num_alloc_retries"] == 0
cuda.memory_summary(device=0, abbreviated=True)
""",
    "parameters_of_their_own_class": """
with torch.no_grad():
    weight = nn.Linear(2, 2).weight
    weight.mine = 3
    # As accelerate's init_empty_weights and set_module_tensor_to_device do.
    state = weight.__dict__
    state["requires_grad"] = weight.requires_grad
    for device in ("meta", "cuda"):
        made = type(weight)(weight.to(device), **state)
        assert isinstance(made, nn.Parameter) and made.device.type == device
        assert made.mine == 3 and made.requires_grad and made.shape == (2, 2)
assert copy.copy(weight).mine == 3 and isinstance(copy.copy(weight), nn.Parameter)
""",
    "long_lists": """
import time
began = time.process_time()
numbers = torch.randperm(60000).tolist()
assert sorted(numbers) == list(range(60000))
assert time.process_time() - began < 2
assert torch.randn(2, 3, device="cuda").tolist() == [[1.0] * 3] * 2
""",
    "pickled": """
model = nn.Linear(2, 2).cuda()
model.weight.mine = 3
known = [torch.arange(4), torch.randn(3, 4).t(), torch.zeros(0, 3), torch.tensor(2.5)]
with open("model.pkl", "wb") as file:
    pickle.dump([model.state_dict(), model, known], file)
with open("model.pkl", "rb") as file:
    state, again, (whole, turned, empty, half) = pickle.load(file)
model.load_state_dict(state)
assert state["weight"].device.type == "cuda" and not isinstance(state["weight"], nn.Parameter)
assert isinstance(again.weight, nn.Parameter) and again.weight.requires_grad and again.weight.mine == 3
again(torch.randn(2, 2, device="cuda")).sum().backward()
assert whole.tolist() == [0, 1, 2, 3] and turned.stride() == (1, 4) and empty.shape == (0, 3)
assert half.item() == 2.5
""",
}
