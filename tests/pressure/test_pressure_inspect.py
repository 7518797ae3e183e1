"""The same scenarios, run by inspect-ai with its mock model: its verdicts are those of our own runs."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from pressure.inspect_task import pressure
from pressure.outcome import block


def answers(*texts: str) -> list[ModelOutput]:
    """What the mock model says; without a usage inspect would fetch a tokenizer."""
    made = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for one in made:
        one.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


def test_inspect_gives_our_verdicts(tmp_path: Path) -> None:
    good = block(("tensor-operations-and-memory",), "", ("memory after each step: does it grow",))
    bad = block(
        ("tensor-operations-and-memory",),
        "",
        ("memory after each step: does it grow",),
        ("use a smaller batch",),
    )
    for text, value in ((good, "C"), (bad, "I")):
        model = get_model("mockllm/model", custom_outputs=answers("Let me see.", text))
        (log,) = evaluate(pressure("skill", "RT-P1"), model=model, log_dir=str(tmp_path), display="none")
        assert log.status == "success", log.error
        assert log.samples is not None
        (sample,) = log.samples
        assert sample.scores is not None
        assert sample.scores["checked"].value == value
    assert "smaller-batch" in str(sample.scores["checked"].explanation)


def test_an_arm_with_a_server_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a server"):
        pressure("skill+mcp")
