"""Places in a text where a language model sees a wish that the grammar did not; each is read again by the grammar.

Off unless a URL is given, and the only part that uses the network. A proposal is a key, a verbatim quote and a value;
it counts only where the quote stands in the text, the quote yields that value by our own numbers and words, and
nothing was understood for that key. What counts is marked: its origin says so, and its strength is "may".
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from typing import Any

from firstcause.check.brief.normal import normal
from firstcause.check.brief.places import spelling
from firstcause.check.brief.sentences import sentences
from firstcause.check.brief.text import Text
from firstcause.check.brief.values import accepts, in_normal_form
from firstcause.check.brief.vocabulary import Key, Vocabulary, vocabulary
from firstcause.errors import InputError
from firstcause.schema.instruction import Instruction

PROPOSED = "proposed by a language model"
# An answer is a short list; a server that sends more is not one that answers this.
_LONGEST_ANSWER = 1 << 20
_MOST = 100
_PLACES = {
    "model": ("model", "hub"),
    "dataset": ("hub", "data", "set", "path"),
    "input_path": ("path",),
    "output_path": ("path",),
    "output_dir": ("path",),
}
_ASK = (
    "You find settings that a user asks for in a text about training or running a model. Answer with a JSON list of "
    'objects {"key", "quote", "value"}; key is one of the keys below, quote is copied verbatim from the text and '
    "contains the value. Leave out what is only reported, asked or rejected. Keys and the forms of their values:\n"
)


def propose(
    texts: Sequence[Text],
    known: Sequence[Instruction],
    url: str,
    model: str,
    secret: str = "",
    seconds: float = 60,
) -> list[Instruction]:
    """What a chat-completions server proposes beside the instructions that are known, as far as the text bears it out.

    Raises ``InputError`` where the server cannot be reached or does not answer in that protocol; a proposal that
    does not hold is left out.
    """
    words = vocabulary()
    asked = _ASK + "\n".join(f"{key.name}: {key.normal}" for key in words.keys.values())
    found: list[Instruction] = []
    taken = {i.key for i in known}
    for text in texts:
        for proposal in _answer(url, model, secret, seconds, asked, text.content):
            instruction = _confirmed(proposal, text, words)
            if instruction is not None and instruction.key not in taken:
                taken.add(instruction.key)
                found.append(instruction)
    return found


def _confirmed(proposal: Any, text: Text, known: Vocabulary) -> Instruction | None:
    """The proposal as an instruction, where its quote stands in the text and yields its value."""
    if not isinstance(proposal, dict):
        return None
    key, quote, value = known.keys.get(str(proposal.get("key"))), proposal.get("quote"), proposal.get("value")
    if key is None or not isinstance(quote, str) or not quote.strip() or quote not in text.content:
        return None
    read = next((v for v in _values(key, quote, known) if _same(v, value)), None)
    if read is None:
        return None
    line = text.line + text.content.count("\n", 0, text.content.index(quote))
    return Instruction(key.name, read, quote, strength="may", origin=f"{text.origin}, {PROPOSED}", line=line)


def _values(key: Key, quote: str, known: Vocabulary) -> list[Any]:
    """The values that a quote can give a key, read by our own numbers, words and names."""
    values: list[Any] = []
    for sentence in sentences(quote, known):
        for token in sentence.tokens:
            if token.kind == "number" and accepts(key, token):
                values.append(in_normal_form(key, token))
            elif token.kind in _PLACES.get(key.name, ()):
                values.append(spelling(token, quote))
            elif token.entry is not None:
                values += [value for name, value in token.entry.values if name == key.name]
                if key.kind == "switch" and token.entry.named is not None and token.entry.named.key is key:
                    values.append(True)
    return values


def _same(read: Any, proposed: Any) -> bool:
    if isinstance(read, bool) or isinstance(proposed, bool):
        return read is proposed
    try:
        return abs(float(read) - float(proposed)) <= 1e-9 * abs(float(read))
    except (TypeError, ValueError):
        return normal(str(read)) == normal(str(proposed))


def _answer(url: str, model: str, secret: str, seconds: float, asked: str, content: str) -> list[Any]:
    """The list that the server answers with; raises ``InputError``."""
    address = url if url.rstrip("/").endswith("/chat/completions") else f"{url.rstrip('/')}/chat/completions"
    if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
        raise InputError(
            "proposals-url",
            f"{url} is no http or https address",
            "give the server's address, such as http://localhost:8000/v1",
        )
    messages = [{"role": "system", "content": asked}, {"role": "user", "content": content}]
    body = json.dumps({"model": model, "messages": messages, "temperature": 0}).encode()
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {secret}"} if secret else {})
    request = urllib.request.Request(address, body, headers, method="POST")
    try:
        # No redirects: the text and the secret go to the address that was given, and nowhere else.
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=seconds) as response:
            raw = response.read(_LONGEST_ANSWER + 1)
        answer = json.loads(raw)["choices"][0]["message"]["content"]
    except (OSError, http.client.HTTPException) as error:
        raise InputError(
            "proposals-unreachable",
            f"{address} did not answer: {error}",
            "leave out --llm, or check the address",
        ) from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(
            "proposals-protocol",
            f"{address} did not answer as a chat-completions server does",
            "check the address",
        ) from error
    return _list_in(answer)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _list_in(answer: Any) -> list[Any]:
    """The JSON list in an answer, which may be wrapped in prose or a fence; nothing where there is none."""
    if not isinstance(answer, str):
        return []
    first, last = answer.find("["), answer.rfind("]")
    try:
        value = json.loads(answer[first : last + 1]) if 0 <= first < last else []
    except (ValueError, RecursionError):
        return []
    return value[:_MOST] if isinstance(value, list) else []
