"""A user's model as it is called: copies for a request's parameters, made once."""

from __future__ import annotations

from bmsql.reasoners.chat._adapt import Adapted
from bmsql.testing import ScriptedChatModel


def test_the_same_parameters_have_the_same_copy() -> None:
    theirs = ScriptedChatModel(replies=["yes"])
    adapted = Adapted(theirs)
    first = adapted.configured(temperature=0.5, max_tokens=100)
    assert adapted.configured(temperature=0.5, max_tokens=100) is first
    assert (first.temperature, first.max_tokens) == (0.5, 100)
    other = adapted.configured(temperature=0.5, max_tokens=200)
    assert (other.temperature, other.max_tokens) == (0.5, 200)
    without = adapted.configured(temperature=0.5, max_tokens=100, dropped=frozenset({"temperature", "max_tokens"}))
    assert (without.temperature, without.max_tokens) == (None, None)
    assert (theirs.temperature, theirs.max_tokens) == (None, None)


def test_copies_do_not_pile_up() -> None:
    adapted = Adapted(ScriptedChatModel(replies=["yes"]))
    for tokens in range(1, 500):
        assert adapted.configured(temperature=None, max_tokens=tokens).max_tokens == tokens
    assert len(adapted._held.copies) < 100
