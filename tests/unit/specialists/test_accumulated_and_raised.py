"""Sums over micro-batches, terms that a program raises, and arrays that a function writes into by ``out``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.lab.counterfactual import Ran
from firstcause.specialists.data_loading import inplace_data_mutation
from firstcause.specialists.debugging_techniques import loss_term_dominates
from firstcause.specialists.mixed_precision_and_optimization import accumulation_not_divided

NOBODY: Any = SimpleNamespace()


def accumulated(calls: int, lines: int = 1, divided: bool = False, **facts: Any) -> Ran:
    rows = ({"loss": 1.0, "calls": calls, "lines": lines},) * 12
    return Ran("as it ran, audited", "program", rows, divided=divided, facts=facts)


def test_undivided_losses_of_one_line_are_seen() -> None:
    assert "8 backward calls" in str(accumulation_not_divided.seen(accumulated(8), NOBODY))


@pytest.mark.parametrize(
    "found",
    [
        accumulated(1),
        accumulated(8, divided=True),
        accumulated(2, lines=2),
        accumulated(8, summed=[{"used": 96}]),
        Ran("as it ran, audited", "program"),
    ],
    ids=["one call", "divided", "two losses", "sums already", "no step"],
)
def test_other_steps_are_not(found: Ran) -> None:
    assert accumulation_not_divided.seen(found, NOBODY) is None


def terms(weight: float) -> Ran:
    rows = tuple({"loss": 9.0, "term 0": 0.7 - 0.001 * n, "term 1": 8.0 / (n + 1)} for n in range(40))
    sites = [{"line": 3, "operand": 0, "weight": 1.0}, {"line": 3, "operand": 1, "weight": weight}]
    return Ran("as it ran", "program", rows, facts={"terms": sites, "term_norms": [[0.1, 20.0]] * 4})


@pytest.mark.parametrize(("weight", "tried"), [(1.0, [200.0]), (100.0, [200.0, 20000.0])])
def test_a_term_that_the_program_raises_is_also_tried_without_its_weight(
    weight: float, tried: list[float]
) -> None:
    found = terms(weight)
    assert loss_term_dominates.seen(found, NOBODY) is not None
    assert loss_term_dominates._factors(found, 1, 0) == pytest.approx(tried)


@pytest.mark.parametrize(
    ("text", "is_written"),
    [
        ("np.subtract(scene, OFFSET, out=scene)", True),
        ("np.divide(self.rows, 2, out=self.rows)", True),
        ("np.subtract(scene, OFFSET, out=other)", False),
        ("rng.standard_normal(out=scene)", False),
    ],
)
def test_out_changes_data_by_what_they_were_only_where_it_is_also_read(text: str, is_written: bool) -> None:
    one = {"op": "write", "reading": False, "changed": 1.0, "site": {"text": text}}
    found = Ran("as it ran, audited", "program", facts={"written": [one]})
    assert (inplace_data_mutation.write(found, NOBODY) is not None) is is_written


@pytest.mark.parametrize(("reading", "is_written"), [(True, True), (False, False)])
def test_a_constant_written_as_a_sample_is_read_stays_in_the_store_and_one_that_fills_a_buffer_is_meant(
    reading: bool, is_written: bool
) -> None:
    one = {
        "op": "__setitem__",
        "reading": reading,
        "changed": 0.3,
        "site": {"text": "spec[low:high, :] = 0.0"},
    }
    found = Ran("as it ran, audited", "program", facts={"written": [one]})
    assert (inplace_data_mutation.write(found, NOBODY) is not None) is is_written
