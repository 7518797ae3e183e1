"""The check's page: whole, without anything from elsewhere, and with the code as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from firstcause.check.report import Report
from firstcause.report.check_html import page
from firstcause.schema.finding import Finding
from firstcause.schema.site import Site

HOSTILE = Finding(
    "missing-zero-grad",
    "critical",
    Site("a<b>.py", 3, "", "x = '<script>alert(1)</script>'"),
    'the "loss" & <img src=x>',
    related=(Site("b&c.py", 4),),
)
MILD = Finding("deviating-rate", "deviation", Site("a.py", 9), "another rate", asked="1e-3", got="<1e-2>")


class Tags(HTMLParser):
    """The tags that a browser would see, and whether each is closed in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_what_the_code_holds_is_text() -> None:
    text = page(Report((HOSTILE, MILD), files=2, notes=("a <b>note</b>",)))
    tags = Tags(text)
    assert tags.open == []
    assert not tags.seen & {"script", "img", "b", "link", "iframe"}
    assert not re.search(r"(?:src|href)=", text.replace("src=x", ""))
    for said in (
        "a&lt;b&gt;.py:3",
        "&lt;script&gt;alert(1)",
        "&quot;loss&quot; &amp; &lt;img",
        "b&amp;c.py:4",
    ):
        assert said in text


def test_sections_stand_in_their_order_and_only_where_they_hold_something() -> None:
    text = page(Report((MILD, HOSTILE), files=2))
    assert text.index("<h2>Critical") < text.index("<h2>Not as asked") < text.index("<h2>Next")
    assert "asked: 1e-3, got: &lt;1e-2&gt;" in text
    assert "<h2>Warnings" not in text


def test_a_clean_check_is_one_sentence() -> None:
    text = page(Report((), files=3))
    assert "3 files: nothing to report" in text
    assert "<section>" not in text
