"""Which masked questions are alike: TF-IDF over words, pairs of words and parts of words."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

_WORD = re.compile(r"<\w+>|[^\W_]+(?:'[^\W_]+)*")
_PART = 4


class Embeddings(Protocol):
    """What is used of a LangChain `Embeddings`."""

    def embed_documents(self, texts: list[str], /) -> list[list[float]]:
        """One vector for each text."""
        ...

    def embed_query(self, text: str, /) -> list[float]:
        """The vector of a text."""
        ...


class LexicalIndex:
    """Cosine similarity of masked questions, from 0 to 1; nothing is downloaded or trained."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [_features(text) for text in texts]
        seen = Counter(feature for one in counts for feature in one)
        self._weights = {feature: math.log(1 + len(texts) / count) for feature, count in seen.items()}
        self._rarest = math.log(1 + len(texts))
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, one in enumerate(counts):
            for feature, weight in self._vector(one).items():
                self._postings[feature].append((number, weight))
        self._size = len(texts)

    def similarities(self, text: str) -> list[float]:
        """How alike `text` is to each of the texts."""
        scores = [0.0] * self._size
        for feature, weight in self._vector(_features(text)).items():
            for number, other in self._postings.get(feature, ()):
                scores[number] += weight * other
        return scores

    def _vector(self, counts: dict[str, float]) -> dict[str, float]:
        raw = {feature: count * self._weights.get(feature, self._rarest) for feature, count in counts.items()}
        norm = math.sqrt(sum(value * value for value in raw.values()))
        return {feature: value / norm for feature, value in raw.items()} if norm else {}


def _features(text: str) -> dict[str, float]:
    """Words and pairs of words; parts of words at less weight, for other forms of the same word."""
    words = [word.lower() for word in _WORD.findall(text)]
    found: dict[str, float] = {}
    for word in words:
        found[word] = 1.0
        if not word.startswith("<"):
            for part in (f" {word} "[place : place + _PART] for place in range(len(word) + 2 - _PART + 1)):
                found[f"#{part}"] = 0.3
    for pair in pairwise(words):
        found[" ".join(pair)] = 0.7
    return found


class VectorIndex:
    """The same by an embedding model that was handed in; each text is embedded once."""

    def __init__(self, texts: Sequence[str], embed: Embeddings, cache: dict[str, list[float]]) -> None:
        missing = [text for text in dict.fromkeys(texts) if text not in cache]
        if missing:
            vectors = embed.embed_documents(missing)
            cache.update(zip(missing, map(_unit, vectors), strict=True))
        self._vectors = [cache[text] for text in texts]
        self._embed = embed

    def similarities(self, text: str) -> list[float]:
        """How alike `text` is to each of the texts."""
        query = _unit(self._embed.embed_query(text))
        return [sum(map(float.__mul__, query, vector)) for vector in self._vectors]


def _unit(vector: Iterable[float]) -> list[float]:
    values = [float(value) for value in vector]
    norm = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / norm for value in values]
