"""Short answers to a proposal, as people type them."""

from __future__ import annotations

import pytest

from firstcause.check.brief import Text, read


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        *(
            (word, (0.01, "require"))
            for word in ("hmm ok", "i guess", "Alright.", "works", "why not", "k", "+1", "👍")
        ),
        *((word, (0.01, "require")) for word in ("fine by me", "hm, fine", "well, yes", "makes sense")),
        *((word, ("none", "forbid")) for word in ("nah", "hmm no", "hm, no thanks")),
        *((word, (0.1, "require")) for word in ("rather 0.1", "i guess 0.1", "hm, 0.1", "cool, but 0.1")),
        *((word, None) for word in ("not sure", "your call", "why not 0.1?")),
    ],
)
def test_a_proposal_is_taken_refused_or_left_open(answer: str, said: tuple[object, str] | None) -> None:
    text = f"user: fine-tune bert-base-uncased\nassistant: And weight decay 0.01?\nuser: {answer}\n"
    found = [
        (i.value, i.polarity) for i in read([Text(text)]) if i.key == "weight_decay" and i.status == "active"
    ]
    assert found == ([said] if said else [])
