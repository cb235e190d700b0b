"""Building the lexicon: each kind of entity in its own way."""

from __future__ import annotations

from bmsql.linking._categories import build_category
from bmsql.linking._endings import term_endings
from bmsql.linking._lexicon import LexiconBuilder
from bmsql.linking._names import build_names
from bmsql.linking._reader import Reader, indexed
from bmsql.linking._symbols import build_symbols
from bmsql.linking._terms import build_terms
from bmsql.semantic import SemanticModel


def build_lexicon(reader: Reader, model: SemanticModel) -> LexiconBuilder:
    """The lexicon of a knowledge base under a semantic model."""
    lexicon = LexiconBuilder()
    for name, entity in indexed(model):
        match entity.kind:
            case "symbol":
                build_symbols(lexicon, reader, name, entity)
            case "term":
                build_terms(lexicon, reader, name, entity)
                lexicon.endings[name] = term_endings(lexicon, name)
            case "name":
                build_names(lexicon, reader, name, entity)
            case _:
                build_category(lexicon, reader, name, entity)
    return lexicon
