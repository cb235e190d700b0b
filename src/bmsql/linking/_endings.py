"""What the names of an entity end in, by which an unknown name is told from a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from bmsql.linking._lexicon import LexiconBuilder
from bmsql.linking._words import common_words

_FEWEST = 5
_FEWEST_LAST_WORDS = 40


def term_endings(lexicon: LexiconBuilder, name: str) -> list[str]:
    """Endings of one-word terms, and after a space the words that many terms end in, as ` syndrome`."""
    single: list[str] = []
    last: Counter[str] = Counter()
    for key in lexicon.names:
        if any(lexicon.concepts.entity(entry.concept) == name for entry in lexicon.names.get(key)):
            head, _, tail = key.rpartition(" ")
            if head:
                last[tail] += 1
            else:
                single.append(tail)
    common = [word for word, count in last.items() if count >= _FEWEST_LAST_WORDS and len(word) > 5]
    return [*name_endings(single), *sorted(f" {word}" for word in common if word.isalpha())]


def name_endings(values: Iterable[str]) -> list[str]:
    """Endings that several one-word names share and few everyday words have, as `-mab`."""
    counts: Counter[str] = Counter()
    for value in {value.lower() for value in values}:
        if value.isalpha() and len(value) > 5:
            counts.update(value[-size:] for size in (3, 4, 5))
    ordinary: Counter[str] = Counter()
    for word in common_words():
        if len(word) > 5:
            ordinary.update(word[-size:] for size in (3, 4, 5))
    return sorted(ending for ending, count in counts.items() if count >= _FEWEST and count > 2 * ordinary[ending])
