"""Building the lexicon: each kind of entity in its own way."""

from __future__ import annotations

from bmsql.linking._categories import build_category
from bmsql.linking._endings import term_endings
from bmsql.linking._lexicon import Lexicon
from bmsql.linking._names import build_names
from bmsql.linking._source import Reader
from bmsql.linking._symbols import build_symbols
from bmsql.linking._terms import build_terms
from bmsql.semantic import SemanticModel


def build_lexicon(reader: Reader, model: SemanticModel) -> Lexicon:
    """The lexicon of a knowledge base under a semantic model."""
    lexicon = Lexicon()
    for name, entity in model.entities.items():
        if entity.kind == "identifier" or entity.same_as or not (entity.match or entity.values):
            continue
        if any(recipe.how == "region" for recipe in entity.match.values()):
            continue
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
    lexicon.truncated = sorted(reader.truncated)
    return lexicon
