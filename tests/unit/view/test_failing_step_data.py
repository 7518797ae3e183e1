from __future__ import annotations

from pathlib import Path
from typing import Any

from firstcause.view.failure_data import failure_to_json
from firstcause.view.module_tree import MOST, module_tree
from firstcause.view.project import Project
from view.projects import failing, recorded


def born(module: str | None, phase: str = "forward", **more: Any) -> dict[str, Any]:
    return {"op": "log", "kind": "inf", "module": module, "phase": phase, **more}


def test_the_first_bad_op_stands_at_its_module(tmp_path: Path) -> None:
    recorded(tmp_path)
    (failure,) = Project(str(tmp_path)).run("r1")["failures"]
    lines = [(one["path"], one["depth"], one["births"], one["bad_gradients"]) for one in failure["tree"]]
    assert lines == [("net", 0, [], 0), ("net.0", 1, [0], 2)]
    assert failure["tree"][1]["parameters"] == 2
    assert failure["tree"][1]["output"]["zeros"] == 64
    assert failure["batch_rows"][0]["bad"][0]["max"] == 61.5


def test_what_the_backward_pass_made_is_of_no_module() -> None:
    births = [born("net.1"), born(None), born(None, "backward")]
    tree = module_tree(["net.0.weight", "net.1.weight"], births, ["net.0.weight"], {})
    assert [(one["path"], one["births"]) for one in tree] == [
        ("net", []),
        ("net.0", []),
        ("net.1", [0]),
        ("", [1]),
    ]


def test_modules_stand_in_the_order_in_which_they_ran() -> None:
    ran = {"net.0": {}, "net.act": {}, "net.1": {}}
    tree = module_tree(["net.0.weight", "net.1.weight", "spare.weight"], [], [], ran)
    assert [one["path"] for one in tree] == ["net", "net.0", "net.act", "net.1", "spare"]


def test_a_large_model_shows_the_way_to_what_is_marked() -> None:
    names = [f"net.layers.{n}.{part}.weight" for n in range(100) for part in ("attention", "mlp")]
    tree = module_tree(names, [born("net.layers.70.mlp")], ["net.layers.3.mlp.weight"], {})
    shown = {one["path"]: one for one in tree}
    assert {"net", "net.layers", "net.layers.70", "net.layers.70.mlp", "net.layers.3.mlp"} <= set(shown)
    assert "net.layers.70.attention" in shown
    assert len(tree) <= 2 * MOST
    assert shown["net"]["left"] == 301 - (len(tree) - 1)


def test_a_mask_is_no_first_bad_value_unless_one_comes_of_it() -> None:
    mask = born(None, constant=True, ancestors=[])
    facts = failing()
    trace = facts["replay"]["trace"]
    trace["births"] = [mask | {"op": "masked_fill"}, born("net.0", ancestors=[])]
    assert [b["op"] for b in failure_to_json(facts, ".", [])["births"]] == ["log"]
    trace["births"] = [mask | {"op": "masked_fill"}, born("net.0", ancestors=[0])]
    assert [b["op"] for b in failure_to_json(facts, ".", [])["births"]] == ["masked_fill", "log"]
