"""Words that are no names: everyday English, and the abbreviations of the field."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from bmsql.linking._normal import norm
from bmsql.semantic import SemanticModel


@lru_cache(maxsize=1)
def _lists() -> dict[str, frozenset[str]]:
    text = (files("bmsql.data") / "aliases" / "extra_words.tsv").read_text(encoding="utf-8")
    lists: dict[str, set[str]] = {}
    for line in text.splitlines()[1:]:
        word, _, kind = line.partition("\t")
        lists.setdefault(kind, set()).add(word)
    return {kind: frozenset(words) for kind, words in lists.items()}


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Everyday English words, in lower case."""
    return _lists()["common"]


@lru_cache(maxsize=1)
def field_words() -> frozenset[str]:
    """Abbreviations of the field that are never taken for a name (`SNP`, `FDA`), in lower case."""
    return _lists()["field"]


@lru_cache(maxsize=1)
def salt_words() -> frozenset[str]:
    """What a drug's salt or form is called after its name (`hydrochloride`), in lower case."""
    return _lists().get("salt", frozenset())


@lru_cache(maxsize=1)
def common_norms() -> frozenset[str]:
    """The common words in normal form."""
    return frozenset(norm(word) for word in common_words())


_ENDINGS = (("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("ly", ""), ("er", ""), ("er", "e"), ("est", ""))


@lru_cache(maxsize=65536)
def is_common(word: str) -> bool:
    """Whether `word` is an everyday English word, also in an inflected form."""
    lowered = word.lower()
    words = common_words()
    if lowered in words or norm(word) in common_norms():
        return True
    return len(lowered) > 5 and any(
        lowered.endswith(ending) and lowered[: -len(ending)] + stem in words for ending, stem in _ENDINGS
    )


def model_words(model: SemanticModel) -> frozenset[str]:
    """The single words, in normal form, by which a semantic model names rows, columns and entities."""
    phrases: list[str] = [*model.neutral]
    for family in model.families.values():
        phrases += family.nouns
    for entity in model.entities.values():
        phrases += (entity.label, entity.plural, *entity.nouns)
    for attribute in model.attributes.values():
        phrases += attribute.words
    for condition in model.conditions.values():
        phrases += condition.words
    names = {
        norm(name)
        for entity in model.entities.values()
        for name in (
            *(name for value in entity.values for name in value.names),
            *(name for names in entity.synonyms.values() for name in names),
        )
    }
    return frozenset(norm(word) for phrase in phrases for word in phrase.split() if word.isalnum()) - names


def category_cues(model: SemanticModel) -> dict[str, frozenset[str]]:
    """By category, the words that speak of the rows it is about: nouns and values that no other rows have."""
    cues: dict[str, frozenset[str]] = {}
    for name, entity in model.entities.items():
        if entity.kind != "category":
            continue
        families = set(entity.match)
        phrases = [noun for family in families for noun in model.families[family].nouns]
        for other in model.entities.values():
            if other.kind == "category" and other is not entity and set(other.match) == families:
                phrases += [each for value in other.values for each in value.names]
        cues[name] = frozenset(norm(word) for phrase in phrases for word in phrase.split() if not is_common(word))
    return cues
