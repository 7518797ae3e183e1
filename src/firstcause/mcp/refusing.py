"""A refusal in words that name what is missing and the next call, which a model reads and can follow."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec

from mcp.types import CallToolResult, TextContent

from firstcause.errors import FirstcauseError
from firstcause.mcp.answers import LARGEST, Step, fitted, text_of
from firstcause.mcp.order import step_of_hint

Arguments = ParamSpec("Arguments")


class Refusal(Exception):
    """A call that comes before its time, or with arguments that cannot be used."""

    def __init__(self, slug: str, message: str, missing: str, following: Step) -> None:
        super().__init__(message)
        self.slug, self.message, self.missing, self.following = slug, message, missing, following


def refusing(
    tool: Callable[Arguments, Awaitable[CallToolResult]],
) -> Callable[Arguments, Awaitable[CallToolResult]]:
    """The tool, with every error that firstcause raises on purpose turned into a refusal."""

    @functools.wraps(tool)
    async def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> CallToolResult:
        try:
            return await tool(*args, **kwargs)
        except Refusal as refusal:
            return refused(refusal)
        except FirstcauseError as error:
            return refused(Refusal(error.slug, error.message, "", step_of_hint(error.hint)))

    return guarded


def refused(refusal: Refusal) -> CallToolResult:
    """The refusal as the protocol carries it: a result with an error, never an error of the protocol."""
    step = refusal.following
    call = f"call {step.tool} {text_of(step.arguments)}" if step.tool else f"a person: {step.person}"
    missing = f" Missing: {refusal.missing}." if refusal.missing else ""
    why = f" ({step.why})" if step.why else ""
    text = f"Refused: {refusal.message}.{missing} Next: {call}{why}."
    plain = {
        "refused": refusal.slug,
        "said": refusal.message,
        "missing": refusal.missing,
        "next": step.model_dump(mode="json"),
        "cut": [],
    }
    shown = text.encode("utf-8", "replace")[:LARGEST].decode("utf-8", "ignore")
    return CallToolResult(
        content=[TextContent(type="text", text=shown)], structured_content=fitted(plain), is_error=True
    )
