"""The scenarios in words as a task of inspect-ai, for those who have its models, logs and viewer.

    inspect eval pressure/inspect_task.py --model PROVIDER/NAME -T arm=skill --epochs 5

Needs ``pip install inspect-ai`` (Python 3.10 or newer). The verdict is that of our own checks. Programs are left to
``python -m pressure run --executing``: they run in the folder of the run, not in a sandbox of inspect.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, TaskState, solver, system_message, use_tools
from inspect_ai.tool import Tool, tool

from pressure.arms import ARMS, skill_text
from pressure.checks import End, failures
from pressure.outcome import outcome_of
from pressure.running import NOTHING_MORE, TURNS
from pressure.scenario import scenarios
from pressure.transcript import Transcript


@task
def pressure(arm: str = "none", only: str = "") -> Task:
    """The scenarios in words whose id begins with ``only``, in one arm: none or skill."""
    if ARMS[arm].mcp:
        raise ValueError(
            f"arm {arm!r} needs a server in the folder of a program: python -m pressure run --arm {arm}"
        )
    samples = [
        Sample(
            id=one.id, input=one.says, target="; ".join(one.must), metadata={"pressures": list(one.pressures)}
        )
        for one in scenarios().values()
        if one.id.startswith(only) and not (one.control and one.fixture)
    ]
    tools = [use_tools(read_skill())] if ARMS[arm].skill else []
    return Task(
        MemoryDataset(samples), solver=[system_message(ARMS[arm].system()), *tools, talk()], scorer=checked()
    )


@tool
def read_skill() -> Tool:
    """The tool by which a skill is read."""

    async def execute(name: str) -> str:
        """Read a skill.

        Args:
            name: The name of the skill.
        """
        return skill_text(name)

    return execute


@solver
def talk() -> Any:
    """Let the model answer until it ends with the block, as our own runs do; the user has nothing more to say."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for turn in range(TURNS):
            state = await generate(state)
            if "OUTCOME\n" in state.output.completion:
                break
            if turn < TURNS - 1:
                state.messages.append(ChatMessageUser(content=NOTHING_MORE))
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def checked() -> Any:
    """Correct where no check failed; the checks that did are the explanation."""

    async def score(state: TaskState, target: Target) -> Score:
        talked = Transcript()
        for message in state.messages:
            if message.role == "assistant":
                talked.add("agent", message.text)
        scenario = scenarios()[str(state.sample_id)]
        failed = failures(End(scenario, talked, outcome_of(talked.said())))
        why = "; ".join(f"{failure.check}: {failure.seen}" for failure in failed)
        return Score(value=INCORRECT if failed else CORRECT, answer=talked.said()[-500:], explanation=why)

    return score
