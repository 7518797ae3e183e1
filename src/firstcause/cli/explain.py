"""Say what the catalogue knows about a cause, an error pattern, a specialist or a known defect.

For a cause: its mechanism, what confirms and refutes it, its fix, what the fix does not fix, and what is often taken
for it. For a pattern: what it means, what to gather, what not to do, and its wordings by version. Without a slug,
list what there is.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator

from firstcause.catalog import cause, load, slugs
from firstcause.catalog.defects import load_defects
from firstcause.catalog.load import nearest
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.specialists import ROUTES
from firstcause.check.pages import page as rule_page
from firstcause.check.pages import rule_named, titles
from firstcause.cli.output import look
from firstcause.errors import InputError
from firstcause.report.explain import cause_page, defect_page, listing, pattern_page, specialist_page
from firstcause.report.style import Style, style_on

WIDTH = 80


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "slug",
        nargs="?",
        metavar="SLUG",
        help="a cause, a pattern, a specialist or a defect, such as log-of-zero",
    )


def main(args: argparse.Namespace) -> int:
    style = style_on(sys.stdout, *look(sys.stdout))
    lines = _pages(args.slug, style) if args.slug else listing(_groups(), style)
    sys.stdout.writelines(line.rstrip() + "\n" for line in lines)
    return 0


def _groups() -> dict[str, dict[str, str]]:
    return {
        "causes": {slug: entry.title for slug, entry in load().items()},
        "patterns": {slug: entry.title for slug, entry in load_patterns().items()},
        "specialists": ROUTES,
        "known defects": {slug: entry.title for slug, entry in load_defects().items()},
        "rules of check": titles(),
    }


def _pages(slug: str, style: Style) -> Iterator[str]:
    patterns, defects = load_patterns(), load_defects()
    known = dict.fromkeys([*slugs(), *patterns, *ROUTES, *defects, *titles()])
    rule = rule_named(slug)
    if slug not in known and rule is None:
        raise InputError("entry-unknown", f"the catalogue has no entry {slug!r}", nearest(slug, known))
    found = []
    # A cause and the pattern by which it shows may have one name.
    if slug in slugs():
        found.append(cause_page(cause(slug), style))
    if slug in patterns:
        found.append(pattern_page(patterns[slug], style))
    if slug in ROUTES:
        found.append(specialist_page(slug, ROUTES[slug], load(), patterns, style))
    if slug in defects:
        found.append(defect_page(defects[slug], style))
    if rule is not None:
        found.append(_wrapped(rule_page(rule)))
    for at, page in enumerate(found):
        if at:
            yield from ("", "")
        yield from page


def _wrapped(page: str) -> Iterator[str]:
    """A page of Markdown for a terminal: prose is wrapped, code stays as it is."""
    in_code = False
    for line in page.splitlines():
        in_code = in_code != line.startswith("```")
        yield from [line] if in_code or len(line) <= WIDTH else textwrap.wrap(line, WIDTH)
