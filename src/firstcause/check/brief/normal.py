"""One spelling for what is typed in many ways, character by character, so that places in the text stay as they are."""

from __future__ import annotations

# ruff: noqa: RUF001
# The characters that look alike are what this file is about.
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
_SAME = {
    **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\u3000\t\ufeff\u200b", " "),
    **dict.fromkeys("−‐‑‒", "-"),
    **dict.fromkeys("×✕✖", "x"),
    **dict.fromkeys("’‘´ʼ", "'"),
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("≈∼", "~"),
    **dict.fromkeys("⇒➜", "→"),
    "·": "*",
}
_TABLE = str.maketrans({**_SAME, **_SUPERSCRIPTS})


def normal(text: str) -> str:
    """The text in lower case and plain characters, as long as it was."""
    plain = text.translate(_TABLE)
    low = plain.lower()
    if len(low) != len(plain):
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in plain)
    return low
