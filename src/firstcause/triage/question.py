"""The one question where a text leaves several things possible, and what to paste where the error is missing."""

from __future__ import annotations

from collections.abc import Collection

from firstcause.triage import routes

_ALTERNATIVES = {
    "exception": "it stops with an error message",
    "values": "the loss is NaN or far too large",
    "flat": "the loss does not fall, or the output is constant",
    "gap": "training is fine and validation is poor",
    "slow": "it is slow",
    "memory": "memory runs out",
    "hang": "it stands still without a message",
}
_TOPICS = {
    "distributed": (routes.DISTRIBUTED, ("exception", "hang", "memory", "slow", "values")),
    "checkpoint": (routes.CHECKPOINTS, ("exception", "gap")),
    "loader": (routes.LOADING, ("exception", "slow", "hang", "memory")),
    "autograd": (routes.AUTOGRAD, ("exception", "values", "flat")),
    "amp": (routes.AMP, ("exception", "values", "slow")),
    "compile": (routes.SPEED, ("exception", "slow", "values")),
    "serving": (routes.DEBUGGING, ("exception", "hang", "memory", "slow")),
}
_WHERE = {
    "memory": routes.MEMORY,
    "distributed": routes.DISTRIBUTED,
    "checkpoint": routes.CHECKPOINTS,
    "loader": routes.LOADING,
    "autograd": routes.AUTOGRAD,
    "amp": routes.AMP,
    "compile": routes.SPEED,
    "speed": routes.SPEED,
    "difference": routes.CHECKPOINTS,
}


def where(about: Collection[str]) -> str:
    """The specialist for what a text is about, where no symptom says more."""
    return next((_WHERE[topic] for topic in _WHERE if topic in about), routes.DEBUGGING)


def about_wrapper(pattern: str) -> str:
    """The question where only the report of another failure is in the text."""
    if pattern == "engine-init-failed":
        return "What does the first traceback above the 'root cause' line say, from the worker process?"
    if pattern == "elastic-child-failed":
        return "What does the first traceback of the failed rank say, in its own log or its error file?"
    return "What does the first traceback above this report say?"


def about_stuck() -> str:
    """The question for "stuck": two failures go by that word."""
    return "Does the process stand still and print nothing more, or does it go on while the loss stays flat?"


def about_difference() -> str:
    """The question for results that differ, between one does not know what."""
    return "Different between what: two runs with one seed, train() and eval(), two machines, or before and after a resume?"


def about_memory() -> str:
    """The question for "memory" alone."""
    return "Which memory, the GPU's or the host's, and does it run out at once or grow from step to step?"


def about_performance() -> str:
    """The question for "performance": the word means speed and quality."""
    return "Which performance: is a step slow (how many a second), or are the metrics poor (which, against what expected)?"


def about_exception(name: str) -> str:
    """The question where an exception is named and its message is not there."""
    return f"What stands behind '{name}:' and in the traceback above it, from 'Traceback (most recent call last)' on?"


def about_crash() -> str:
    """The question for a crash without its output."""
    return "What are the last lines that it prints there, from 'Traceback' on, or its exit code if it prints nothing?"


def open_question(about: Collection[str], excluded: Collection[str]) -> str:
    """The question for a complaint that names no symptom; what the text excludes is not offered."""
    keys = next((keys for topic, (_, keys) in _TOPICS.items() if topic in about), tuple(_ALTERNATIVES))
    offered = [_ALTERNATIVES[key] for key in keys if key not in excluded]
    return (
        f"What do you see: {', '.join(offered[:-1])}, or {offered[-1]}?"
        if len(offered) > 1
        else "What do you see, and what did you expect?"
    )


def what_to_paste(about: Collection[str]) -> str:
    """What is needed where a cause is asked for and the error's text is absent."""
    if "distributed" in about:
        return (
            "the first traceback of the rank that failed first, not the last lines of the launcher; if the logs are gone, run it"
            " again under `firstcause run`, which keeps each rank's output"
        )
    if "checkpoint" in about:
        return "the whole message, with the first missing and unexpected keys or the first size mismatch, and the call that loads"
    return (
        "the whole error from 'Traceback (most recent call last)' to its last line; if it is gone, run it again under"
        " `firstcause run`, which keeps the output and what led to it"
    )
