"""A language model as reasoner, and what keeps it honest.

`ChatClient` is the layer between bmsql and any LangChain chat model: which way a schema is asked for,
retries, deadlines, usage and the exact cache. `ChatReasoner` decides what is asked; `check_text` holds
what is said against the rows.
"""

from bmsql.reasoners.chat._cache import DraftCache
from bmsql.reasoners.chat._cells import cell_text
from bmsql.reasoners.chat._client import ChatClient
from bmsql.reasoners.chat._drive import Ask, Thought, athink, think
from bmsql.reasoners.chat._extract import find_json
from bmsql.reasoners.chat._finding import Finding
from bmsql.reasoners.chat._grounding import check_text
from bmsql.reasoners.chat._identity import Identity
from bmsql.reasoners.chat._memory import forget_models
from bmsql.reasoners.chat._messages import Message, Reply, Request, Way
from bmsql.reasoners.chat._open import open_chat_model
from bmsql.reasoners.chat._options import ChatOptions
from bmsql.reasoners.chat._reasoner import ChatReasoner
from bmsql.reasoners.chat._rows import render_result, render_rows
from bmsql.reasoners.chat._schema_text import rule_condition, schema_text
from bmsql.reasoners.chat._summary import plain_summary
from bmsql.reasoners.chat._usage import estimate_tokens

__all__ = [
    "Ask",
    "ChatClient",
    "ChatOptions",
    "ChatReasoner",
    "DraftCache",
    "Finding",
    "Identity",
    "Message",
    "Reply",
    "Request",
    "Thought",
    "Way",
    "athink",
    "cell_text",
    "check_text",
    "estimate_tokens",
    "find_json",
    "forget_models",
    "open_chat_model",
    "plain_summary",
    "render_result",
    "render_rows",
    "rule_condition",
    "schema_text",
    "think",
]
