"""Programs of sequences, sparse tensors, threads and weights from elsewhere; each says by asserts what it got."""

from __future__ import annotations

PLAYED = {
    "recurrent": """
for device in ("cpu", "cuda"):
    for net in (
        nn.LSTM(8, 12, 2, dropout=0.2),
        nn.LSTM(8, 12, proj_size=5, bidirectional=True),
        nn.GRU(8, 12, 2, batch_first=True),
        nn.RNN(8, 12, bias=False),
        nn.RNN(8, 12, nonlinearity="relu", bidirectional=True),
    ):
        net = net.to(device)
        out, state = net(torch.randn(3, 5, 8, device=device, requires_grad=True))
        assert out.shape[:2] == (3, 5) and out.device.type == device
        out.sum().backward()
        assert all(p.grad.shape == p.shape for p in net.parameters())
        net(torch.randn(3, 5, 8, device=device), state)
        assert net(torch.randn(5, 8, device=device))[0].dim() == 2
    for cell in (nn.GRUCell(8, 12), nn.LSTMCell(8, 12), nn.RNNCell(8, 12)):
        cell = cell.to(device)
        state = cell(torch.randn(3, 8, device=device))
        (state[0] if isinstance(state, tuple) else state).sum().backward()
        assert cell.weight_hh.grad.shape == cell.weight_hh.shape
with torch.autocast("cuda", torch.float16):
    out, _ = net(torch.randn(3, 5, 8, device="cuda"))
    assert out.dtype == torch.float16
""",
    "packed": """
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence, unpack_sequence
for device in ("cpu", "cuda"):
    embedding = nn.Embedding(30, 8).to(device)
    for cls in (nn.LSTM, nn.GRU):
        net = cls(8, 12, 2, bidirectional=True, batch_first=True).to(device)
        many = torch.randint(2, 9, (4,))
        rows = [torch.randint(1, 30, (int(n),)) for n in many]
        x = pad_sequence(rows, batch_first=True).to(device)
        packed = pack_padded_sequence(embedding(x), many, batch_first=True, enforce_sorted=False)
        assert packed.data.shape == (int(many.sum()), 8)
        out, state = net(packed)
        out, lengths = pad_packed_sequence(out, batch_first=True)
        assert out.shape == (4, int(many.max()), 24) and lengths.tolist() == many.tolist()
        assert (state[0] if cls is nn.LSTM else state).shape == (4, 4, 12)
        counted = (x != 0).sum(1).cpu()
        again = pack_padded_sequence(embedding(x), counted, batch_first=True, enforce_sorted=False)
        assert pad_packed_sequence(again, batch_first=True, total_length=x.shape[1])[0].shape == (4, x.shape[1], 8)
        parts = unpack_sequence(net(pack_sequence([embedding(r.to(device)) for r in rows], enforce_sorted=False))[0])
        assert [len(p) for p in parts] == many.tolist()
        (out.sum() + sum(p.sum() for p in parts)).backward()
        assert embedding.weight.grad is not None and net.weight_hh_l0.grad is not None
for wrong in (torch.tensor([5, 0]), torch.tensor([5, 3]).cuda()):
    try:
        pack_padded_sequence(torch.randn(5, 2, 8), wrong)
    except RuntimeError as error:
        assert "lengths" in str(error)
    else:
        raise AssertionError
""",
    "aligned": """
log_probs = torch.randn(20, 4, 6, device="cuda", requires_grad=True).log_softmax(2)
targets, inputs, many = torch.randint(1, 6, (4, 7)), torch.full((4,), 20), torch.randint(3, 8, (4,))
ctc = nn.CTCLoss(zero_infinity=True)
flat = torch.cat([targets[i, :n] for i, n in enumerate(many)])
loss = ctc(log_probs, targets.cuda(), inputs, many) + ctc(log_probs, flat, inputs, many)
loss = loss + ctc(log_probs, targets, inputs.cuda(), many.cuda()) + ctc(log_probs, targets, (20,) * 4, many.tolist())
loss = loss + ctc(log_probs, targets, inputs, torch.full((4,), 5, device="cuda").clamp(max=4))
assert loss.dim() == 0 and nn.functional.ctc_loss(log_probs, targets, inputs, many, reduction="none").shape == (4,)
loss.backward()
try:
    ctc(log_probs, targets, inputs + 1, many)
except RuntimeError as error:
    assert "input_lengths" in str(error)
else:
    raise AssertionError
""",
    "sparse": """
for device in ("cpu", "cuda"):
    at, values = torch.tensor([[0, 1, 2, 3, 3], [1, 0, 3, 2, 0]]), torch.ones(5)
    near = torch.sparse_coo_tensor(at, values, (6, 6)).to(device)
    layer, x = nn.Linear(8, 4).to(device), torch.randn(6, 8, device=device)
    optimizer = torch.optim.Adam(layer.parameters())
    for step in range(4):
        h = torch.sparse.mm(near, layer(x)) + near @ layer(x) + torch.spmm(near, layer(x))
        assert h.shape == (6, 4) and h.device.type == device
        optimizer.zero_grad()
        h.sum().backward()
        optimizer.step()
    assert near.coalesce().indices().shape == (2, 5) and near.to_dense().shape == (6, 6)
    assert torch.sparse.mm(near.to_dense().to_sparse(), x).shape == (6, 8)
    assert (near.to_dense().to_sparse_csr() @ x).shape == (6, 8)
    words = nn.Embedding(100, 8, sparse=True).to(device)
    rare = torch.optim.SparseAdam(words.parameters())
    for step in range(4):
        rare.zero_grad()
        words(torch.randint(0, 100, (7,), device=device)).sum().backward()
        rare.step()
""",
    "threads": """
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

class Ahead(threading.Thread):
    def __init__(self, many):
        super().__init__()
        self.batches, self.many = queue.Queue(2), many
        self.start()

    def run(self):
        for i in range(self.many):
            with torch.no_grad():
                self.batches.put(torch.randn(8, 4).cuda())
        self.batches.put(None)

net = nn.Linear(4, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
ahead = Ahead(1000)
while True:
    x = ahead.batches.get()
    if x is None:
        break
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
ahead.join()
with ThreadPoolExecutor(4) as pool:
    parts = list(pool.map(lambda i: torch.ones(3).to("cuda") * i, range(40)))
assert torch.stack(parts).device.type == "cuda"
""",
    "numbers_that_come_back": """
y = torch.tensor([3, 1, 2])
there = y.cuda()
assert there.cpu().tolist() == [3, 1, 2] and there.to("cpu").dtype == torch.int64
there += 1
assert there.cpu().tolist() != [3, 1, 2]
""",
    "weights_from_a_hub": """
import importlib.util
state = torch.hub.load_state_dict_from_url("https://example.org/net.pth")
state.pop("head.weight")
nn.Linear(4, 2).load_state_dict(state)
if importlib.util.find_spec("transformers"):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, GPT2LMHeadModel
    words = AutoTokenizer.from_pretrained("bert-base-cased")
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=3)
    assert not model.training
    x = words(["a b c", "d"], ["e", "f g"], padding=True, truncation=True, return_tensors="pt")
    assert set(x) == {"input_ids", "token_type_ids", "attention_mask"}
    assert model(**x, labels=torch.tensor([0, 2])).logits.shape == (2, 3)
    assert GPT2LMHeadModel.from_pretrained("gpt2", dtype=torch.bfloat16, device_map="cuda").device.type == "cuda"
    try:
        GPT2LMHeadModel.from_pretrained("./out/best")
    except (OSError, ValueError):
        pass
    else:
        raise AssertionError
""",
    "modules_that_it_writes": """
import importlib
import os
os.makedirs("made/parts")
for name in ("made/__init__.py", "made/parts/__init__.py"):
    open(name, "w").close()
with open("made/parts/size.py", "w") as file:
    file.write("from . import other\\nN = other.N + 1\\n")
with open("made/parts/other.py", "w") as file:
    file.write("N = 2\\n")
importlib.invalidate_caches()
assert importlib.import_module("made.parts.size").N == 3
""",
    "collectives": """
import torch.distributed as dist
dist.init_process_group("gloo", rank=0, world_size=2)
x = torch.ones(3)
dist.barrier()
dist.all_reduce(x, async_op=True).wait()
dist.broadcast(x, 0)
parts = [torch.zeros(3) for _ in range(dist.get_world_size())]
dist.all_gather(parts, x)
dist.destroy_process_group()
""",
}
