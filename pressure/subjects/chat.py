"""A model behind a chat-completions address; its tools are the desk's, called by functions."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from pressure.desk import Desk
from pressure.scenario import Scenario
from pressure.subjects.subject import SubjectFailed

SECONDS = 300.0
# One answer may call tools so often before it has to speak.
CALLS = 12


class Chat:
    """A model at an address such as http://127.0.0.1:8000/v1; ``key`` is sent as a bearer token where there is one."""

    def __init__(
        self, url: str, model: str, key: str = "", most_tokens: int = 1024, tools: bool = True
    ) -> None:
        self._url, self._model, self._key = url.rstrip("/") + "/chat/completions", model, key
        self.most_tokens, self._with_tools = most_tokens, tools
        self._used = 0

    @property
    def name(self) -> str:
        return f"chat:{self._model}"

    def tokens(self) -> int:
        return self._used

    def begin(self, desk: Desk, scenario: Scenario) -> _Talk:
        self._used = 0
        return _Talk(self, desk)

    def tools(self, desk: Desk) -> list[dict[str, Any]]:
        """The desk's tools in the form of the interface."""
        return [
            {
                "type": "function",
                "function": {"name": name, "parameters": {"type": "object", "properties": given}},
            }
            for name, given in desk.tools().items()
        ]

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The model's next message; raises ``SubjectFailed`` where there is none."""
        body: dict[str, Any] = {"model": self._model, "messages": messages, "max_tokens": self.most_tokens}
        if tools and self._with_tools:
            body["tools"] = tools
        headers = {
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
        }
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                plain = json.load(answer)
            self._used += int((plain.get("usage") or {}).get("total_tokens", 0))
            message: dict[str, Any] = plain["choices"][0]["message"]
        except (OSError, ValueError, KeyError, IndexError, TypeError, urllib.error.URLError) as error:
            raise SubjectFailed(f"{self._url} did not answer: {error}") from error
        return message


class _Talk:
    def __init__(self, chat: Chat, desk: Desk) -> None:
        self._chat, self._desk, self._tools = chat, desk, chat.tools(desk)
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": desk.arm.system()}]

    def answer(self, words: str) -> str:
        self._messages.append({"role": "user", "content": words})
        said = ""
        for _ in range(CALLS):
            message = self._chat.ask(self._messages, self._tools)
            self._messages.append({"role": "assistant", **{k: v for k, v in message.items() if k != "role"}})
            said = message.get("content") or ""
            calls = message.get("tool_calls") or []
            if not calls:
                break
            for call in calls:
                self._messages.append(
                    {"role": "tool", "tool_call_id": call.get("id", ""), "content": self._done(call)}
                )
        return said

    def _done(self, call: dict[str, Any]) -> str:
        given = call.get("function") or {}
        try:
            arguments = json.loads(given.get("arguments") or "{}")
        except ValueError as error:
            return f"the arguments are no JSON: {error}"
        if not isinstance(arguments, dict):
            return "the arguments are no object"
        return self._desk.call(str(given.get("name")), arguments)

    def goes_on(self) -> bool:
        return True
