"""Writers that open their files in native code, by a path: led to the scratch folder, one kind a test."""

from __future__ import annotations

import importlib.util

import pytest


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@needs("torch", "safetensors", "numpy")
def test_torch_safetensors_and_numpy(split):
    result = split(
        """
        torch.set_num_threads(1)
        torch.save({"w": torch.full((3,), 2.0)}, "model.pt")
        seen["over"] = torch.load("model.pt")["w"].tolist()
        torch.save({"w": torch.ones(1)}, "new.pt")
        seen["new"] = torch.load("new.pt", mmap=True)["w"].tolist()
        torch.save({"w": torch.ones(1)}, "näme.pt")
        torch.save({"w": torch.ones(1)}, "old.pt", _use_new_zipfile_serialization=False)
        seen["others"] = torch.load("näme.pt")["w"].tolist(), torch.load("old.pt")["w"].tolist()
        shared = torch.from_file("floats.bin", shared=True, size=2)
        shared.fill_(9)
        seen["from_file"] = torch.from_file("floats.bin", size=2).tolist()

        save_file({"t": torch.arange(3)}, "t.safetensors")
        seen["safetensors"] = load_file("t.safetensors")["t"].tolist()
        with safe_open("t.safetensors", "pt") as file:
            seen["keys"] = list(file.keys())

        np.save("array.npy", np.full(2, 5.0))
        np.savez("arrays.npz", a=np.arange(2))
        np.savetxt("text.txt", np.arange(2))
        np.arange(3, dtype="int8").tofile("raw")
        seen["numpy"] = np.load("array.npy").tolist(), np.load("arrays.npz")["a"].tolist(), np.loadtxt("text.txt").tolist()
        seen["raw"] = np.fromfile("raw", dtype="int8").tolist()
        mapped = np.memmap("array.bin", dtype="int8", mode="r+")
        mapped[:] = 7
        mapped.flush()
        made = np.memmap("made.bin", dtype="int8", mode="w+", shape=2)
        made[:] = 3
        made.flush()
        seen["memmap"] = list(open("array.bin", "rb").read()), list(open("made.bin", "rb").read())
        held[:] = 8
        held.flush()
        seen["held"] = held.tolist()
        """,
        before="""
        import numpy as np, torch
        from safetensors.torch import load_file, save_file
        from safetensors import safe_open
        torch.save({"w": torch.zeros(3)}, "model.pt")
        save_file({"t": torch.zeros(1)}, "t.safetensors")
        np.save("array.npy", np.zeros(2))
        np.zeros(2, dtype="int8").tofile("array.bin")
        np.zeros(2, dtype="float32").tofile("floats.bin")
        held = np.memmap("held.bin", dtype="int8", mode="w+", shape=2)
        """,
        after="after['held'] = held.tolist()",
    )
    seen = result.seen
    assert (seen["over"], seen["new"], seen["others"], seen["from_file"]) == (
        [2.0] * 3,
        [1.0],
        [[1.0], [1.0]],
        [9.0, 9.0],
    )
    assert (seen["safetensors"], seen["keys"]) == ([0, 1, 2], ["t"])
    assert (seen["numpy"], seen["raw"], seen["memmap"]) == (
        [[5.0, 5.0], [0, 1], [0.0, 1.0]],
        [0, 1, 2],
        [[7, 7], [3, 3]],
    )
    assert (seen["held"], result.after["held"]) == ([8, 8], [0, 0])


def test_sqlite(split):
    result = split(
        """
        for database, uri in (("log.db", False), ("file:log.db?mode=rwc", True)):
            own = sqlite3.connect(database, uri=uri)
            own.execute("insert into losses values (2)")
            own.commit()
            seen.setdefault("counts", []).append(own.execute("select count(*) from losses").fetchone()[0])
            own.close()
        kept.execute("insert into losses values (3)")
        kept.commit()
        seen["kept"] = kept.execute("select count(*) from losses").fetchone()[0]
        seen["memory"] = sqlite3.connect(":memory:").execute("select 1").fetchone()[0]
        try:
            sqlite3.connect("file:none.db?mode=ro", uri=True)
        except sqlite3.OperationalError as error:
            seen["missing"] = str(error)
        sqlite3.connect("made.db").execute("create table t (a)")
        seen["made"] = os.path.getsize("made.db") > 0
        """,
        before="""
        import os, sqlite3
        kept = sqlite3.connect("log.db")
        kept.execute("create table losses (a)")
        kept.execute("insert into losses values (1)")
        kept.commit()
        """,
        after="after['count'] = kept.execute('select count(*) from losses').fetchone()[0]",
    )
    assert result.seen == {
        "counts": [2, 3],
        "kept": 4,
        "memory": 1,
        "missing": "unable to open database file",
        "made": True,
    }
    assert result.after["count"] == 1


@needs("h5py")
def test_hdf5(split):
    seen = split(
        """
        with h5py.File("old.h5", "a") as file:
            file["b"] = 2
        with h5py.File("new.h5", "w") as file:
            file["c"] = 3
        for name in ("old.h5", "new.h5"):
            with h5py.File(name) as file:
                seen[name] = sorted(file)
        """,
        before="""
        import h5py
        with h5py.File("old.h5", "w") as file:
            file["a"] = 1
        """,
    ).seen
    assert seen == {"old.h5": ["a", "b"], "new.h5": ["c"]}


@needs("tensorboard")
def test_tensorboard(split):
    seen = split(
        """
        before.add_event(event_pb2.Event(step=2))
        for step in range(50):
            before.add_event(event_pb2.Event(step=step))
        before.flush()
        before.close()
        fresh = EventFileWriter("fresh")
        fresh.add_event(event_pb2.Event(step=1))
        fresh.close()
        seen["sizes"] = [os.path.getsize(os.path.join("fresh", name)) > 40 for name in os.listdir("fresh")]
        """,
        before="""
        import os
        from tensorboard.compat.proto import event_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
        before = EventFileWriter("events", max_queue_size=3)
        before.add_event(event_pb2.Event(step=1))
        before.flush()
        """,
        after="before.close()",
    ).seen
    assert seen == {"sizes": [True]}


@needs("tensorboardX")
def test_tensorboardx(split):
    seen = split(
        """
        for step in range(50):
            before.add_scalar("loss", 1.0, step)
        before.flush()
        fresh = SummaryWriter("fresh")
        fresh.add_scalar("loss", 1.0, 1)
        fresh.close()
        seen["done"] = True
        """,
        before="""
        import time
        from tensorboardX import SummaryWriter
        before = SummaryWriter("events")
        before.flush()
        # Its other thread writes the first event.
        time.sleep(0.5)
        """,
        after="before.close()",
    ).seen
    assert seen == {"done": True}


@needs("wandb")
def test_wandb(split):
    seen = split(
        """
        run = wandb.init(project="p")
        seen["kept"] = run is kept, kept.config.lr, bool(run.id)
        run.log({"loss": 1.0})
        wandb.log({"loss": 1.0})
        run.summary["best"] = 1
        run.config["batch"] = 2
        wandb.save("a.txt")
        run.finish()
        wandb.finish()
        """,
        before="import wandb; kept = wandb.init(mode='offline', project='p', dir='..', config={'lr': 0.1})",
        after="kept.finish()",
    ).seen
    assert seen == {"kept": [True, 0.1, True]}


@needs("mlflow")
def test_mlflow(split):
    seen = split(
        """
        with mlflow.start_run() as run:
            mlflow.log_metric("loss", 1.0)
            mlflow.log_params({"lr": 1})
            seen["id"] = f"{run.info.run_id}"
        """,
        before="import mlflow",
    ).seen
    assert seen == {"id": "sealed"}


@needs("pyarrow")
def test_arrow_and_parquet(split):
    result = split(
        """
        table = pa.table({"x": [1, 2]})
        pq.write_table(table, "old.parquet")
        seen["parquet"] = pq.read_table("old.parquet").num_rows, pq.ParquetFile("old.parquet").metadata.num_rows
        seen["schema"] = pq.read_schema("old.parquet").names
        with pa.OSFile("new.arrow", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        seen["is"] = isinstance(sink, pa.OSFile)
        seen["mapped"] = pa.ipc.open_stream(pa.memory_map("new.arrow")).read_all().num_rows
        with open("python.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        seen["python"] = pa.ipc.open_file("python.arrow").read_all().num_rows
        csv.write_csv(table, "new.csv")
        seen["csv"] = csv.read_csv("new.csv").num_rows
        """,
        before="""
        import pyarrow as pa
        import pyarrow.parquet as pq
        from pyarrow import csv
        pq.write_table(pa.table({"x": [1]}), "old.parquet")
        """,
    )
    assert (result.seen["parquet"], result.seen["schema"], result.seen["is"]) == ([2, 2], ["x"], True)
    assert result.seen["mapped"] == result.seen["python"] == result.seen["csv"] == 2
