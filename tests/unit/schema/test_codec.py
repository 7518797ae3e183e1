"""The vocabulary goes to JSON and back without loss, and nothing else is let in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstcause.schema import Diagnosis, Evidence, Hypothesis, Site, Symptom, from_plain, to_plain

sites = st.builds(Site, st.text(min_size=1), st.integers(1, 10**6), st.text(), st.text())
evidence = st.builds(
    Evidence,
    st.sampled_from(["observation", "replay", "counterfactual", "experiment", "static"]),
    st.booleans(),
    st.text(),
    st.dictionaries(st.text(), st.integers() | st.text() | st.none()),
    st.none() | sites,
    st.none() | st.integers(0, 10**9),
)
hypotheses = st.builds(
    Hypothesis,
    st.text(min_size=1),
    st.none() | sites,
    st.integers(0, 9),
    st.sampled_from(["open", "confirmed", "refuted", "inconclusive"]),
    st.lists(evidence, max_size=3).map(tuple),
)
symptoms = st.builds(
    Symptom,
    st.sampled_from(["nan", "exception", "signal", "exit-code", "divergence", "no-learning", "expectation"]),
    st.text(),
    st.none() | sites,
)
diagnoses = st.builds(
    Diagnosis,
    st.sampled_from(["established", "not-established", "healthy"]),
    st.none() | symptoms,
    st.none() | st.text(),
    st.none() | sites,
    st.lists(hypotheses, max_size=3).map(tuple),
    st.dictionaries(st.text(), st.text()),
)


@given(diagnoses)
def test_round_trip(diagnosis: Diagnosis) -> None:
    assert from_plain(Diagnosis, json.loads(json.dumps(to_plain(diagnosis)))) == diagnosis


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_values_that_json_has_no_word_for(value: float) -> None:
    plain = to_plain(Evidence("replay", True, "x", {"v": value}))
    json.dumps(plain, allow_nan=False)
    assert plain["values"]["v"] == str(value)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"file": "a.py"}, "Site.line is missing"),
        ({"file": "a.py", "line": "3"}, "Site.line is not of type int"),
        ({"file": "a.py", "line": True}, "Site.line is not a whole number"),
        ({"file": "a.py", "line": 3, "colour": 1}, "Site.colour is no known key"),
        ([], "Site is not an object"),
    ],
)
def test_what_does_not_fit_is_named(data: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_plain(Site, data)
