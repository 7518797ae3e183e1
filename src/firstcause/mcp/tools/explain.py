"""``explain``: what the catalogue knows about a cause."""

from __future__ import annotations

import io
from typing import Annotated

from mcp.types import CallToolResult

from firstcause import catalog
from firstcause.catalog.patterns import load_patterns
from firstcause.check.pages import page as rule_page
from firstcause.check.pages import rule_named
from firstcause.mcp.answers import PageAnswer, Step, given
from firstcause.mcp.refusing import refusing
from firstcause.report.explain import cause_page, pattern_page
from firstcause.report.style import style_on

WIDTH = 100


@refusing
async def explain(slug: str) -> Annotated[CallToolResult, PageAnswer]:
    """Say what the catalogue knows of a cause, an error pattern or a rule of check: mechanism, proof, fix, decoys."""
    style = style_on(io.StringIO(), False, WIDTH)
    pages = ["\n".join(pattern_page(load_patterns()[slug], style))] if slug in load_patterns() else []
    rule = rule_named(slug)
    pages += [rule_page(rule)] if rule is not None else []
    if slug in catalog.slugs() or not pages:
        pages.insert(0, "\n".join(cause_page(catalog.cause(slug), style)))
    answer = PageAnswer(
        said=f"what the catalogue knows of {slug}",
        next=Step(
            tool="run_probe", arguments={"theory": slug}, why="a page proves nothing; a measurement does"
        ),
        page="\n\n".join(pages),
    )
    return given(answer)
