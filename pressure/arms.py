"""The four arms: what a subject has beside the user's words and the tools for files."""

from __future__ import annotations

from dataclasses import dataclass

from firstcause.skills.knowledge import load_skills
from firstcause.skills.page import page
from pressure.outcome import FORM

SYSTEM = "You help a user with a PyTorch problem. You may look, ask and act."


@dataclass(frozen=True)
class Arm:
    """An arm: with the skills, with the server of tools, with the hook; each adds to the one before."""

    name: str
    skill: bool = False
    mcp: bool = False
    hook: bool = False

    def system(self) -> str:
        """The first message: what all arms share, and with skills their list, which names no symptom's answer."""
        parts = [SYSTEM]
        if self.skill:
            names = "\n".join(f"- {skill.name}: {skill.description}" for skill in load_skills().values())
            parts.append(f"Skills, to be read with read_skill where they fit:\n{names}")
        return "\n\n".join([*parts, FORM])


ARMS = {
    arm.name: arm
    for arm in (
        Arm("none"),
        Arm("skill", skill=True),
        Arm("skill+mcp", skill=True, mcp=True),
        Arm("skill+mcp+hook", skill=True, mcp=True, hook=True),
    )
}


def skill_text(name: str) -> str:
    """The text of a skill by its name, or what there is."""
    known = {skill.name: skill for skill in load_skills().values()}
    return page(known[name]) if name in known else f"there is no skill {name!r}: {', '.join(known)}"
