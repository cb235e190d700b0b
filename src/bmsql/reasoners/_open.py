"""The reasoner that a setting names, built over a semantic model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bmsql.errors import ConfigurationError

if TYPE_CHECKING:
    from bmsql.conventions import RuleBook
    from bmsql.reasoners._base import Reasoner
    from bmsql.semantic import SemanticModel
    from bmsql.types import Catalog, Mention

OFFLINE = "offline"


def open_reasoner(
    name: str | None,
    *,
    semantic_model: SemanticModel,
    catalog: Catalog,
    rules: RuleBook,
    link: Callable[[str], tuple[Mention, ...]],
) -> Reasoner:
    """The reasoner of a name: None or `offline` is the OfflineReasoner.

    `link` finds the stored values that a question mentions, such as `Linker(...).link`. Raises
    ConfigurationError for any other name.
    """
    if name not in (None, OFFLINE):
        raise ConfigurationError(f"there is no reasoner '{name}'.", remedy=f"Use '{OFFLINE}'.")
    from bmsql.reasoners.offline import OfflineReasoner

    return OfflineReasoner(semantic_model, rules, catalog, link)
