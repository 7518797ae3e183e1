"""What a person puts into a client's settings so that it asks this hook."""

from __future__ import annotations

from typing import Any

# Clients whose settings say whether a hook that fails blocks: there it does.
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "claude": (
        ".claude/settings.json",
        {
            "hooks": {
                "PreToolUse": [
                    {
                        "matcher": "Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*",
                        "hooks": [
                            {
                                "type": "command",
                                "command": "firstcause",
                                "args": ["hook", "--client", "claude"],
                                "timeout": 10,
                                "onFailure": "block",
                            }
                        ],
                    }
                ]
            }
        },
    ),
    "codex": (
        ".codex/hooks.json",
        {
            "hooks": {
                "PreToolUse": [
                    {
                        "matcher": "apply_patch|Edit|Write|Bash",
                        "hooks": [
                            {"type": "command", "command": "firstcause hook --client codex", "timeout": 10}
                        ],
                    }
                ]
            }
        },
    ),
    "gemini": (
        ".gemini/settings.json",
        {
            "hooks": {
                "BeforeTool": [
                    {
                        "matcher": "write_file|replace|run_shell_command",
                        "hooks": [
                            {
                                "name": "firstcause",
                                "type": "command",
                                "command": "firstcause hook --client gemini",
                                "timeout": 10000,
                            }
                        ],
                    }
                ]
            }
        },
    ),
    "copilot": (
        ".github/hooks/firstcause.json",
        {
            "version": 1,
            "hooks": {
                "preToolUse": [
                    {"type": "command", "bash": "firstcause hook --client copilot", "timeoutSec": 10}
                ]
            },
        },
    ),
}
