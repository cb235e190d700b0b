"""Which readings of a stretch of words are believable, and how much."""

from __future__ import annotations

from bmsql.linking._context import Context
from bmsql.linking._lexicon import Entry
from bmsql.linking._normal import compact, fold, norm, tokenize
from bmsql.linking._words import field_words, is_common
from bmsql.semantic import Entity

_ABBREVIATION = 5
GRAMMAR = frozenset(
    "a all am an and any are as at be been best both by can could did do does each every few for from get had has have "
    "how if in is it its lead led less many may might more most must near new no not of on one only or other our out "
    "per risk same set sets shall should so some such than that the their them then there these they this those to top "
    "two up was were what when where which while who whose why will with would yes you".split()
)


def admits(context: Context, i: int, j: int, entry: Entry, name: str, entity: Entity) -> bool:
    """Whether words `i` to `j` can be meant as this name of an entity."""
    if entry.source == "group":
        return j - i > 1 or context.opens_noun(i, j, name)
    if entry.source in {"value", "synonym"}:
        return _admits_model_name(context, i, j, entry)
    single = j - i == 1
    lowered = context.text(i, j).lower()
    if single and (lowered in field_words() or lowered.isdigit() or len(lowered) < 2):
        return False
    if single and context.tokens[i].norm in context.model_words and not context.is_proper(i):
        return False
    match entity.kind:
        case "term":
            return _admits_term(context, i, j, entry)
        case "name":
            return _admits_name(context, i, j, entry, name)
        case "category":
            return _admits_category(context, i, j, entry, name, entity)
        case _:
            return not single or not is_common(lowered)


def is_abbreviation(surface: str) -> bool:
    """Whether a name is written in capitals, such as `COPD`, `T2D` or `PsA`."""
    letters = [c for c in surface if c.isalpha()]
    return " " not in surface and len(surface) <= _ABBREVIATION and sum(c.isupper() for c in letters) > len(letters) / 2


def _admits_model_name(context: Context, i: int, j: int, entry: Entry) -> bool:
    text = context.text(i, j)
    if j - i > 1:
        return True
    if len(text) <= 2 and context.is_numbered(i):
        return False
    if is_abbreviation(entry.surface) and not context.is_upper(i, j):
        return not is_common(text) and context.after(j) != "hoc"
    return True


def _admits_term(context: Context, i: int, j: int, entry: Entry) -> bool:
    if j - i > 1:
        return True
    text = context.text(i, j)
    if is_abbreviation(entry.surface):
        if context.is_upper(i, j) or text == entry.surface:
            return len(text) > 2 or entry.source == "extra"
        return entry.source == "extra" and len(text) > 2 and not is_common(text)
    if entry.source == "eponym":
        marked = norm(text) != text.lower()
        return marked or context.is_proper(i)
    if is_common(text):
        return entry.source in {"stored", "official", "extra"}
    return True


def _admits_name(context: Context, i: int, j: int, entry: Entry, name: str) -> bool:
    words = [token.text for token in context.tokens[i:j]]
    if words[0].lower() == "anti":
        # `anti-X` is a class of things against X, and some databases list it as a name of one of them.
        return False
    ordinary = all(is_common(word) or len(word) < 3 for word in words)
    if j - i > 1:
        proper = any(context.is_proper(place) for place in range(i, j))
        if entry.source == "extra":
            # Nobody would give ordinary words as a name if they were not meant as one.
            return True
        coded = entry.source == "stored" and context.is_upper(i, j) and any(c.isdigit() for c in entry.surface)
        return not ordinary or proper or coded or (entry.source == "stored" and context.beside_noun(i, j, name))
    if ordinary:
        sure = context.is_proper(i) or context.beside_noun(i, j, name)
        return sure and entry.source in {"stored", "extra"}
    if len(words[0]) < 4:
        return words[0] == entry.surface and entry.source in {"stored", "extra"}
    return True


def _admits_category(context: Context, i: int, j: int, entry: Entry, name: str, entity: Entity) -> bool:
    if entry.source == "stored" and not _same_but_plural(context, i, j, entry):
        return False
    inside = any(recipe.how == "contains" for recipe in entity.match.values())
    if not inside:
        return True
    ordinary = all(is_common(token.text) for token in context.tokens[i:j])
    if entry.source == "part":
        return context.names_noun(name) if j - i > 1 else context.beside_noun(i, j, name)
    return not ordinary or j - i > 2 or (j - i > 1 and context.names_noun(name)) or context.is_proper(i)


def _same_but_plural(context: Context, i: int, j: int, entry: Entry) -> bool:
    """Whether only the last word may be in the plural: `antibodies binding X` is not `antibody binding`."""
    words = tokenize(entry.surface)
    return len(words) != j - i or all(
        compact(fold(word.text)) == compact(fold(context.tokens[i + place].text))
        for place, word in enumerate(words[:-1])
    )


def is_named(context: Context, i: int, j: int, name: str) -> bool:
    """Whether a noun makes an everyday word a name: `the cat gene`, `gene cat`, but not `which gene has`."""
    return context.beside_noun(i, j, name) and context.text(i, j).lower() not in GRAMMAR


def admits_symbol(context: Context, i: int, j: int, entry: Entry, name: str) -> bool:
    """Whether words `i` to `j` can be meant as this symbol."""
    text = context.text(i, j)
    lowered = text.lower()
    beside = context.beside_noun(i, j, name)
    plain = lowered in field_words() or (context.tokens[i].norm in context.model_words and j - i == 1)
    has_digit = any(c.isdigit() for c in text)
    sure = entry.source in {"stored", "official"}
    if len(text) < 2 or text.isdigit():
        return False
    if (text == entry.surface and any(c.isupper() for c in text) and not context.shouting) or context.is_upper(i, j):
        if plain:
            return beside or context.is_place(i, j, name)
        return sure or entry.source == "previous" or has_digit or len(text) > 3 or context.is_place(i, j, name)
    if plain:
        return False
    if is_common(text):
        return sure and is_named(context, i, j, name)
    if beside:
        return True
    if has_digit:
        return len(text) > 2 if sure else len(text) > 3
    return len(text) > 2 if sure else len(text) > 5
