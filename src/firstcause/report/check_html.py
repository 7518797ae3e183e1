"""A check's report as one HTML file: nothing is loaded from anywhere, and nothing of the code is markup."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from firstcause.check.report import Report
from firstcause.report.check_sections import actions, sections, summary, value_of
from firstcause.report.plain import one_line
from firstcause.schema.finding import Finding

STYLE = """
:root { color-scheme: light dark; --line: #8886; --bad: #b3261e; --mild: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --mild: #f0c36d; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { border-bottom: 1px solid var(--line); font-size: 1.1rem; margin-top: 2rem; }
article { margin: 1rem 0; }
h3 { font-size: 1rem; margin: 0; }
.bad { color: var(--bad); } .mild { color: var(--mild); }
pre { border-left: 3px solid var(--line); margin: .25rem 0; overflow-x: auto; padding: 0 .75rem; }
p { margin: .25rem 0; }
"""


def page(report: Report) -> str:
    """The report's sections in their order, each finding with its line of code; 0 findings are one sentence."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    found = sections(report)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # What the browser may load, should anything ever ask for it.
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>firstcause check</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>"
    yield f"<h1>firstcause check</h1>\n<p>{_text(summary(report))}</p>"
    yield from _findings("Critical", found.critical, "bad")
    yield from _list("As asked", [f"{i.key} = {value_of(i)}" for i in found.matches])
    yield from _findings("Not as asked", found.deviations, "bad")
    yield from _findings("Not as asked, with a reason in the code", found.justified, "")
    yield from _findings("Assumptions to confirm", found.assumptions, "mild")
    yield from _findings("Overengineering", found.overengineering, "mild")
    yield from _findings("Warnings", found.warnings, "mild")
    yield from _findings("Suggestions", found.suggestions, "")
    yield from _list(
        "Asked for, and set nowhere in the code", [f"{i.key} = {value_of(i)}" for i in found.unseen]
    )
    yield from _list("Next", actions(report))
    yield from _list("Notes", report.notes)
    yield "</main>\n</body>\n</html>"


def _findings(title: str, findings: Sequence[Finding], kind: str) -> Iterator[str]:
    if not findings:
        return
    yield f"<section>\n<h2>{_text(title)}</h2>"
    for one in findings:
        place = str(one.site) + (f" (cell {one.cell}, line {one.cell_line})" if one.cell else "")
        yield f'<article>\n<h3 class="{kind}">{_text(one.slug)} <code>{_text(place)}</code></h3>'
        if one.site.text:
            yield f"<pre><code>{_text(one.site.text)}</code></pre>"
        yield f"<p>{_text(one.message)}</p>"
        if one.asked or one.got:
            yield f"<p>asked: {_text(one.asked) or '-'}, got: {_text(one.got) or '-'}</p>"
        if one.related:
            yield f"<p>see {', '.join(f'<code>{_text(str(site))}</code>' for site in one.related)}</p>"
        yield "</article>"
    yield "</section>"


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        items = "\n".join(f"<li>{_text(line)}</li>" for line in lines)
        yield f"<section>\n<h2>{_text(title)}</h2>\n<ul>\n{items}\n</ul>\n</section>"


def _text(text: str) -> str:
    return html.escape(one_line(text))
