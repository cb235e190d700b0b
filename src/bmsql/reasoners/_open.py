"""The reasoner that a setting names, built over a backend and a semantic model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmsql.errors import ConfigurationError

if TYPE_CHECKING:
    from bmsql.backends import Backend
    from bmsql.conventions import RuleBook
    from bmsql.linking import ValueIndex
    from bmsql.reasoners._base import Reasoner
    from bmsql.semantic import SemanticModel

OFFLINE = "offline"


def open_reasoner(model: str | None, *, semantic_model: SemanticModel, backend: Backend, rules: RuleBook) -> Reasoner:
    """The reasoner for `model`: None or `offline` is the OfflineReasoner.

    Builds the value index of the backend, or loads it from the cache directory. Raises
    ConfigurationError for any other model.
    """
    if model not in (None, OFFLINE):
        raise ConfigurationError(f"there is no reasoner '{model}'.", remedy=f"Use '{OFFLINE}'.")
    from bmsql.linking import Linker
    from bmsql.reasoners.offline import OfflineReasoner

    linker = Linker(semantic_model, _value_index(backend, semantic_model))
    return OfflineReasoner(semantic_model, rules, backend.catalog(), linker.link)


def _value_index(backend: Backend, model: SemanticModel) -> ValueIndex:
    from bmsql.backends import cache_directory
    from bmsql.linking import ValueIndex

    try:
        return ValueIndex.load_or_build(backend, model, cache_directory())
    except OSError:
        # A cache that cannot be written costs time, not the answer.
        return ValueIndex.build(backend, model)
