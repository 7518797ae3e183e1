from __future__ import annotations

import ast
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.source.configs import ConfigFile, NotRead, Refused, json_text, yaml_text
from firstcause.source.project import Project

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


def config(text, suffix):
    return ConfigFile("c", "c", text.encode(), suffix)


def lines(text, suffix):
    return {".".join(path): (e.value, e.line) for path, e in config(text, suffix).entries.items()}


@settings(max_examples=300, deadline=None)
@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_json_reads_as_the_standard_reader_does(value, indent):
    text = json.dumps(value, indent=indent)
    assert ast.literal_eval(json_text.parse(text)) == json.loads(text)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='{}[]",:0e-.tru \n\\u', max_size=20))
def test_json_is_refused_where_the_standard_reader_refuses_it(text):
    try:
        wanted = json.loads(text, strict=False)
    except ValueError:
        with pytest.raises(NotRead):
            json_text.parse(text)
    else:
        assert ast.literal_eval(json_text.parse(text)) == wanted


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab:-&*!<>[]{}'\"#|?%@`\n ,1.e", max_size=30))
def test_any_yaml_is_read_or_refused_with_a_line(text):
    try:
        ast.literal_eval(yaml_text.parse(text))
    except NotRead as error:
        line = error.line
    else:
        line = 1
    assert 1 <= line <= text.count("\n") + 2


def test_json_entries_with_their_lines():
    text = '{\n\t"a": 1,\n\t"b": {\n\t\t"c": [1,\n2],\t"d": "x\\u00e9"\n\t}\n}'
    assert lines(text, ".json") == {"a": (1, 2), "b.c": ([1, 2], 4), "b.d": ("xé", 5)}


def test_yaml_entries_with_their_lines():
    text = "a: 1e-4\nb:\n  c: &x {lr: 0.1}\n  d:\n    <<: *x\n    wd: 2\ne: ${b.c.lr}\nf: no\ng: 0123a\nh: 'true'\n"
    assert lines(text, ".yaml") == {
        "a": (1e-4, 1), "b.c.lr": (0.1, 3), "b.d.lr": (0.1, 3), "b.d.wd": (2, 6), "e": (0.1, 3), "f": (False, 8),
        "g": ("0123a", 9), "h": ("true", 10),
    }  # fmt: skip


def test_yaml_names_within_a_text_stand_in_their_place():
    text = "size: base\nn: 3\nname: org/net-${size}-v${n}\nother: ${absent}-x\n"
    entries = {"size": ("base", 1), "n": (3, 2), "name": ("org/net-base-v3", 3), "other": ("${absent}-x", 4)}
    assert lines(text, ".yaml") == entries


def test_toml_entries_with_their_lines():
    text = 'a = 1\n[b]\nc = "x"\n\n[b.d]\n"e f" = [1,\n 2]\n[[g]]\nh = 2.5\n'
    assert lines(text, ".toml") == {
        "a": (1, 1),
        "b.c": ("x", 3),
        "b.d.e f": ([1, 2], 6),
        "g": ([{"h": 2.5}], 8),
    }


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{n}: &{n} [{', '.join([f'*{p}'] * 9)}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "suffix", "line", "word"),
    [
        (BOMB, ".yaml", 1, "50000 values"),
        ("x: 1\na: &a [*a]\n", ".yaml", 2, "itself"),
        ("a: &a\n  <<: *a\n", ".yaml", 2, "itself"),
        ("x: 1\ny: !!python/object/apply:os.system [ls]\n", ".yaml", 2, "python/object"),
        ("x: !include other.yaml\n", ".yaml", 1, "!include"),
        ("[" * 5000, ".yaml", 1, "nested"),
        ("[" * 5000, ".json", 1, "nested"),
        ('{"a":' * 5000, ".json", 1, "nested"),
        ("a = " + "[" * 5000 + "]" * 5000, ".toml", 1, "nested"),
        ("x: " + "a" * 300_000, ".yaml", 1, "100000 characters"),
    ],
    ids=[
        "bomb",
        "cycle",
        "merge",
        "tag",
        "own tag",
        "deep yaml",
        "deep json",
        "deep objects",
        "deep toml",
        "long",
    ],
)
def test_what_is_not_for_us_is_refused_with_its_line(text, suffix, line, word):
    with pytest.raises(Refused, match=word) as refused:
        config(text, suffix)
    assert refused.value.line >= 1
    assert refused.value.line == line or word.endswith("values")


@pytest.mark.parametrize("first", ["a", "é"])
def test_a_file_of_one_long_line_takes_no_longer_than_one_of_many(first):
    text = json.dumps([first, *range(30_000)], ensure_ascii=False)
    start = time.process_time()
    found = json_text.parse(text)
    assert time.process_time() - start < 3
    assert found.elts[-1].col_offset == len(text.encode()) - len("29999]")


def test_a_file_in_another_encoding_is_said_to_be_one(tmp_path):
    (tmp_path / "c.json").write_bytes(b'{\n"a": "\xe9"}')
    project = Project(str(tmp_path), [])
    assert project.config("c.json") is None
    (broken,) = project.unreadable.values()
    assert str(broken.site) == "c.json:2"
    assert "0xe9" in broken.message
