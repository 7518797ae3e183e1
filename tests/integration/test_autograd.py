"""Exceptions that come out of backward: the op that wrote, the graph that is too old, the cut, and near misses."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.diagnose import diagnose
from firstcause.fix.patch import parse, patched
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis

PROGRAMS = Path(__file__).parent / "programs"
INPLACE, STEP = "inplace-modified-saved-tensor", "optimizer-step-before-backward"
REUSED, STATE = "graph-reused-across-iterations", "recurrent-state-keeps-graph"
MODE, CUT = "grad-mode-left-disabled", "detached-encoder"
CACHE, DRAWN = "cached-intermediate-in-checkpointed-block", "nondeterministic-recomputation"
COUNT, BUFFER = "wrong-number-of-gradients", "tensor-attribute-not-a-buffer"

# program, cause, the line to fix, what the evidence says, whether a patch is offered
CASES = [
    ("gate_scaled_in_place", INPLACE, "gate *= present", "mul_ at train.py:13 wrote into it", True),
    ("shared_score", STEP, "loss_m = bce(on_fake", "Adam.step() at train.py:13 then changed it", True),
    ("graph_before_loop", REUSED, "spread = model.spread()", "was made before the loop", True),
    ("state_with_graph", STATE, "logits, state = net(", "was made in an earlier pass", True),
    ("validation_left_off", MODE, "torch.set_grad_enabled(False)", "off already when the step began", True),
    ("encoder_without_graph", CUT, "with torch.no_grad():", "ran with gradient mode off", False),
    ("layer_drop", DRAWN, "random.random() < self.drop", "Python's generator as the forward found it", True),
    ("cached_factors", CACHE, "if not self.filled", "net.block.filled as the forward found it", False),
    ("gradient_left_out", COUNT, "return grad * (s", "returned 1 gradients", True),
    ("basis_left_float", BUFFER, "self.basis = torch.cos", "neither parameter nor buffer", True),
]
FORMS = [
    ("relu_after_tanh", INPLACE, "nn.ReLU(inplace=True)", "TanhBackward0", True),
    ("path_by_index", INPLACE, "path[:, t] = path[:, t - 1]", "copy_ at", True),
    ("weights_clamped", INPLACE, "self.b.weight.clamp_(min=0)", "the parameter net.b.weight", False),
    ("updated_by_hand", STEP, "p -= lr * p.grad", "sub_ of a gradient", False),
    ("critic_steps_first", STEP, "self.oc.step()", "self.critic.2.weight", False),
    ("table_with_graph", REUSED, "self.table = torch.sin(t) * self.scale", "before the loop", False),
    ("total_with_graph", REUSED, "total = total +", "an earlier pass", False),
    ("memory_with_graph", STATE, "self.memory = self.cell(obs, self.memory)", "an earlier pass", True),
    ("state_retained", STATE, "h = cell(x, h)", "an earlier pass", True),
    ("training_without_graph", MODE, "@torch.inference_mode()", "off in 4 of 4 ops", True),
    ("generator_without_graph", MODE, "with torch.no_grad():", "off already when the step began", False),
    ("losses_as_numbers", CUT, ".sum().item()", "took 8 values out of a tensor with a graph", False),
    ("counted_calls", DRAWN, "if self.calls % 2:", "calls as the forward found it", False),
    ("depth_drawn", DRAWN, "keep = rng.integers", "the generator rng", False),
]


def diagnosed(program: str, folder: Path) -> Diagnosis:
    shutil.copy(PROGRAMS / f"{program}.py", folder / "train.py")
    command = [sys.executable, "-m", "firstcause", "run", "-q", "-o", "run", sys.executable, "train.py"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    return diagnose(RunFolder(str(folder / "run")))


@pytest.mark.parametrize(
    ("program", "cause", "line", "said", "has_patch"),
    [*CASES, *(pytest.param(*form, marks=pytest.mark.slow) for form in FORMS)],
)
def test_the_mechanism_is_established_at_the_line_to_fix(
    program: str, cause: str, line: str, said: str, has_patch: bool, tmp_path: Path
) -> None:
    diagnosis = diagnosed(program, tmp_path)

    assert (diagnosis.status, diagnosis.cause) == ("established", cause), diagnosis.missing
    assert diagnosis.site is not None
    assert line in diagnosis.site.text
    confirmed = [h for h in diagnosis.hypotheses if h.status == "confirmed"]
    assert [h.cause for h in confirmed] == [cause]
    assert said in " ".join(e.text for e in confirmed[0].evidence)
    assert (diagnosis.fix is not None) == has_patch


@pytest.mark.slow
@pytest.mark.parametrize("program", [c[0] for c in (*CASES, *FORMS) if c[4]])
def test_the_patched_program_runs_to_its_end(program: str, tmp_path: Path) -> None:
    diagnosis = diagnosed(program, tmp_path)
    assert diagnosis.fix is not None
    for patch in parse(diagnosis.fix.diff):
        file = tmp_path / patch.path
        file.write_bytes(patched(patch, file.read_bytes()))

    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )

    assert done.returncode == 0, done.stderr
    numbers = done.stdout.replace("(", " ").replace(")", " ").replace(",", " ").split()
    assert math.isfinite(float(numbers[-1])) if numbers[-1] != "final" else done.stdout.strip() == "final"


@pytest.mark.parametrize(
    ("program", "refuted"),
    [
        ("walked_twice", {REUSED, STATE}),
        pytest.param("all_frozen", {MODE}, marks=pytest.mark.slow),
    ],
)
def test_what_is_only_near_is_not_established(program: str, refuted: set[str], tmp_path: Path) -> None:
    diagnosis = diagnosed(program, tmp_path)

    assert diagnosis.status == "not-established"
    assert refuted <= {h.cause for h in diagnosis.hypotheses if h.status == "refuted"}


@pytest.mark.slow
def test_an_attribute_of_the_parameters_dtype_is_not_blamed_for_a_double_batch(tmp_path: Path) -> None:
    diagnosis = diagnosed("input_made_double", tmp_path)

    assert diagnosis.cause != BUFFER
    assert BUFFER in {h.cause for h in diagnosis.hypotheses if h.status == "refuted"}
