"""The layer between bmsql and any LangChain chat model: one request in, one checked reply out.

Which model, how a schema is asked for, retries, deadlines, usage and the exact cache are decided here;
what is asked is not.
"""

from bmsql.reasoners.chat._cache import DraftCache
from bmsql.reasoners.chat._client import ChatClient
from bmsql.reasoners.chat._extract import find_json
from bmsql.reasoners.chat._identity import Identity
from bmsql.reasoners.chat._memory import forget_models
from bmsql.reasoners.chat._messages import Message, Reply, Request, Way
from bmsql.reasoners.chat._open import open_chat_model
from bmsql.reasoners.chat._usage import estimate_tokens

__all__ = [
    "ChatClient",
    "DraftCache",
    "Identity",
    "Message",
    "Reply",
    "Request",
    "Way",
    "estimate_tokens",
    "find_json",
    "forget_models",
    "open_chat_model",
]
