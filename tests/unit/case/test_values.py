"""What a case is made of can be passed on without fear: nobody changes it behind another's back."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re

import firstcause.case
from firstcause.case.event import Event, digest, encode, now


def test_every_value_is_frozen() -> None:
    names = [name for _, name, package in pkgutil.iter_modules(firstcause.case.__path__) if not package]
    modules = [importlib.import_module(f"firstcause.case.{name}") for name in names]
    values = {v for m in modules for _, v in inspect.getmembers(m, dataclasses.is_dataclass)}
    assert len(values) > 12
    assert [v.__name__ for v in values if not v.__dataclass_params__.frozen] == []


def test_line_of_an_event() -> None:
    line = encode(Event(3, "10:00", "rejected", {"because": "é\u2028"}), "ab")
    assert line == (
        b'{"seq":3,"time":"10:00","event":"rejected","data":{"because":"\\u00e9\\u2028"},"previous":"ab"}'
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", now())
    assert digest(line) == digest(bytes(line)) != digest(line + b" ")
