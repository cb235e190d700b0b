"""The reasoner that a setting names, built over a semantic model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from bmsql.conventions import RuleBook
    from bmsql.reasoners._base import Reasoner
    from bmsql.reasoners.chat import ChatOptions
    from bmsql.semantic import SemanticModel
    from bmsql.types import Catalog, Mention

OFFLINE = "offline"


def open_reasoner(
    name: str | BaseChatModel | None,
    *,
    semantic_model: SemanticModel,
    catalog: Catalog,
    rules: RuleBook,
    link: Callable[[str], tuple[Mention, ...]],
    chat: ChatSettings | None = None,
) -> Reasoner:
    """The reasoner of a name: None or `offline` is the OfflineReasoner, all else a ChatReasoner.

    `name` is otherwise `provider:model`, as LangChain's `init_chat_model` understands it, or a LangChain
    chat model. `link` finds the stored values that a question mentions, such as `Linker(...).link`.
    Raises ConfigurationError for a name without a provider, MissingDependencyError, CredentialsError.
    """
    if name is None or (isinstance(name, str) and name.strip().lower() == OFFLINE):
        from bmsql.reasoners.offline import OfflineReasoner

        return OfflineReasoner(semantic_model, rules, catalog, link)
    from bmsql.fewshot import ExampleStore
    from bmsql.reasoners.chat import ChatClient, ChatReasoner, DraftCache, open_chat_model

    chat = chat or ChatSettings()
    store = ExampleStore(semantic_model, chat.examples, link=link, embed=chat.embeddings)
    version = knowledge_version(semantic_model, rules, catalog)
    cache = DraftCache(chat.cache, version=version) if chat.cache is not None else None
    client = ChatClient(open_chat_model(name, timeout=chat.timeout), timeout=chat.timeout, cache=cache)
    return ChatReasoner(client, semantic_model, rules, catalog, link, options=chat.options, examples=store)


@dataclass(frozen=True)
class ChatSettings:
    """How a chat model is opened and used.

    options: what it is shown; examples: the file of the user's own example queries; embeddings: a
    LangChain `Embeddings` to find the nearest examples with, instead of words; cache: a file for
    replies to be kept in; timeout: seconds for one call.
    """

    options: ChatOptions | None = None
    examples: Path | None = None
    embeddings: Embeddings | None = None
    cache: Path | None = None
    timeout: float = 60.0


def knowledge_version(model: SemanticModel, rules: RuleBook, catalog: Catalog) -> str:
    """A hash of what a reply depends on beside its prompt: tables, rules and their meanings."""
    parts = [
        model.model_dump_json(),
        catalog.model_dump_json(),
        rules.profile,
        *(rule.model_dump_json() for rule in rules),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
