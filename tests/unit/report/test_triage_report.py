"""What a person reads of a triage: in the terminal and as Markdown."""

from __future__ import annotations

import io

import pytest

from firstcause.report.triage import render_triage, triage_to_markdown
from firstcause.schema.triage import Seen, Triage
from firstcause.triage.conclude import conclude
from firstcause.triage.read import read


def triaged(text: str) -> Triage:
    return conclude(read(io.BytesIO(text.encode()), "ask.txt"))


def shown(triage: Triage, why: bool = False) -> str:
    out = io.StringIO()
    render_triage(triage, out, why=why)
    return out.getvalue()


def test_a_routed_text_says_what_was_seen_where_and_what_next() -> None:
    text = shown(triaged("hi\nRuntimeError: CUDA error: device-side assert triggered\n"))
    assert "cuda-device-side-assert  line 2" in text
    assert "1. debugging-techniques" in text
    assert "Suspicions, none of them proven" in text
    assert "Do first" in text
    assert text.rstrip().splitlines()[-1] == "next  firstcause run python train.py"


def test_a_question_is_asked_once_and_nothing_is_run() -> None:
    text = shown(triaged("model stuck"))
    assert text.count("?") == 1
    assert "next " not in text


def test_what_to_paste_is_said_where_the_error_is_missing() -> None:
    text = shown(triaged("my job crashed last night and I deleted the output. What was the cause?"))
    assert "the error's text is missing" in text
    assert "Paste" in text
    assert "Suspicions" not in text


def test_a_foreign_question_is_handed_over() -> None:
    text = shown(triaged("jax.jit recompiles on each call, how to stop this"))
    assert "not a PyTorch failure" in text
    assert "Bring" in text


def test_why_shows_features_and_weights() -> None:
    triage = triaged("the memory grows with every step")
    assert "+4" not in shown(triage)
    assert "memory-growth: " in shown(triage, why=True)
    assert "+4" in shown(triage, why=True)


@pytest.mark.parametrize("render", [shown, triage_to_markdown])
def test_control_codes_and_markup_of_others_are_disarmed(render: object) -> None:
    seen = Seen(
        "cuda-oom", 1, "\x1b]0;evil\x07\x1b[31mCUDA out of memory <script>`x`\u202e", "CUDA out of memory"
    )
    triage = Triage("route", ("tensor-operations-and-memory",), ("cuda-oom",), ("cuda-oom",), seen=(seen,))
    text = render(triage)  # type: ignore[operator]
    assert "\x1b" not in text
    assert "\u202e" not in text
    if render is triage_to_markdown:
        assert "<script>" not in text


def test_markdown_has_the_same_parts() -> None:
    text = triage_to_markdown(triaged("the loss is nan after 100 steps, my boss says it is Adam"), why=True)
    assert text.startswith("# nan-loss: routed\n")
    for part in (
        "## Seen",
        "## Where it belongs",
        "## Suspicions",
        "## Do first",
        "## Leave alone",
        "## Why",
        "Next: `",
    ):
        assert part in text


def test_a_review_is_checked_not_run() -> None:
    assert "next  firstcause check" in shown(
        triaged("please review this script before I start the run, does it follow the spec?")
    )
