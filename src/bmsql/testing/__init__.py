"""Fakes for tests of pipelines that use bmsql: a reasoner and a chat model that say what they are told to.

>>> from bmsql.testing import ScriptedReasoner
>>> from bmsql.types import Plan
>>> reasoner = ScriptedReasoner(plan=Plan(intent="list"), draft="SELECT 1 AS one", answer="One.")
>>> reasoner.draft("anything", Plan()).sql
'SELECT 1 AS one'

Give it to `Agent(model=reasoner)`: the SQL is validated, run and refined as usual, and no model
is called.

A `ScriptedChatModel` is a LangChain chat model instead: prompts are written, replies are read, and
retries, usage and streaming work as they do with a provider's.

>>> from bmsql.testing import ScriptedChatModel
>>> model = ScriptedChatModel(replies=["SELECT 1 AS one", {"sufficient": True}])
>>> model.invoke("Draft a query.").text
'SELECT 1 AS one'
>>> model.invoke("Is it enough?").text
'{"sufficient": true}'
>>> [call.prompt for call in model.calls]
['Draft a query.', 'Is it enough?']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmsql.testing._reasoner import ScriptedReasoner

if TYPE_CHECKING:
    from bmsql.testing._chat_model import ScriptedCall, ScriptedChatModel

__all__ = ["ScriptedCall", "ScriptedChatModel", "ScriptedReasoner"]


def __getattr__(name: str) -> object:
    # Lazy: the chat model is a class of LangChain's, which a user of the reasoner need not load.
    if name in {"ScriptedCall", "ScriptedChatModel"}:
        from bmsql.testing import _chat_model

        return getattr(_chat_model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
