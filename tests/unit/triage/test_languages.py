"""Errors of other languages are told by their form, and ours are never taken for them."""

from __future__ import annotations

import pytest
from told_by import triaged

OTHERS = {
    "Rust": "error[E0382]: borrow of moved value: `grid`\n  --> src/map.rs:9:20",
    "Java": 'Exception in thread "main" java.lang.IllegalStateException: closed\n\tat org.acme.Pool.take(Pool.java:88)',
    "Go": "panic: runtime error: index out of range [7] with length 7\n\ngoroutine 18 [running]:\nmain.walk()\n\t/src/walk.go:31",
    "C++": "solver.cpp:77:14: error: use of undeclared identifier 'tolerance'\nwhat now",
    "SQL": "ERROR 1054 (42S22): Unknown column 'prize' in 'field list'",
    "C#": "Unhandled exception. System.InvalidOperationException: Sequence contains no elements",
    "Ruby": "job.rb:12:in `run': undefined method `each' for nil:NilClass (NoMethodError)",
}
OURS = [
    "scan.cpp:41:7: error: 'CUDAGuard' is not a member of 'c10'\nour torch extension does not build",
    'Traceback (most recent call last):\n  File "fit.py", line 3, in <module>\n    loss.backward()\n'
    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    "training on the gpu is slow, the server around it is written in Go",
]


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_another_language_is_handed_over(name: str) -> None:
    triage = triaged(OTHERS[name])
    assert triage.action == "out-of-scope"
    assert triage.patterns == ()
    assert triage.handover
    assert "language" in triage.handover


@pytest.mark.parametrize("text", OURS)
def test_ours_is_never_handed_over_for_its_form(text: str) -> None:
    assert triaged(text).action != "out-of-scope"
