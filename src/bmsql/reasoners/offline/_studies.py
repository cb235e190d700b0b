"""A study named by its authors, as in `the beta in Nalls et al.`: it stands for what its table is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bmsql.semantic import SemanticModel
from bmsql.types import Mention

_STUDY = re.compile(r"(?P<author>[^\W\d]+) (?P<year>\d{4})")


class _Study(NamedTuple):
    """A study as it may be written, the family of its table, and what the table is about."""

    pattern: re.Pattern[str]
    family: str
    entity: str
    value: str


class Studies:
    """The studies that the tables of a semantic model are from. Made once; thread-safe."""

    def __init__(self, model: SemanticModel, tables: Iterable[str]) -> None:
        self._studies: list[_Study] = []
        for name in sorted(tables):
            spec = model.tables[name]
            study = _STUDY.fullmatch(spec.study)
            if study is None or not spec.about:
                continue
            pattern = rf"\b{study['author']}\b(?:'s)?(?: et al\b\.?)?,?(?: ?\(?{study['year']}\)?)?"
            (entity, value), *_ = spec.about.items()
            self._studies.append(_Study(re.compile(pattern, re.IGNORECASE), spec.family, entity, value))

    def name(self, text: str, mentions: Sequence[Mention]) -> tuple[tuple[Mention, ...], frozenset[str]]:
        """The mentions with those of named studies, and the families that the studies belong to.

        A study is left out, and so not understood, where the question names another thing than the study is about.
        """
        found: list[Mention] = []
        families: set[str] = set()
        for study in self._studies:
            place = study.pattern.search(text)
            if place is None or any(one.entity == study.entity and one.value != study.value for one in mentions):
                continue
            families.add(study.family)
            found.append(
                Mention(
                    text=place.group(),
                    start=place.start(),
                    end=place.end(),
                    entity=study.entity,
                    value=study.value,
                    method="alias",
                )
            )
        return (*mentions, *found), frozenset(families)
