"""A study named by its authors, as in `the beta in Nalls et al.`: it stands for what its table is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bmsql.semantic import SemanticModel
from bmsql.types import Mention

_STUDY = re.compile(r"(?P<author>[^\W\d]+) (?P<year>\d{4})")


def name_studies(
    text: str, mentions: Sequence[Mention], model: SemanticModel, tables: Iterable[str]
) -> tuple[tuple[Mention, ...], frozenset[str]]:
    """The mentions with those of named studies, and the families that the studies belong to.

    A study is left out, and so not understood, where the question names another thing than the study is about.
    """
    found: list[Mention] = []
    families: set[str] = set()
    for name in sorted(tables):
        spec = model.tables[name]
        study = _STUDY.fullmatch(spec.study)
        if study is None or not spec.about:
            continue
        pattern = rf"\b{study['author']}\b(?:'s)?(?: et al\b\.?)?,?(?: ?\(?{study['year']}\)?)?"
        place = re.search(pattern, text, re.IGNORECASE)
        (entity, value), *_ = spec.about.items()
        others = {one.value for one in mentions if one.entity == entity}
        if place is None or others - {value}:
            continue
        families.add(spec.family)
        found.append(
            Mention(
                text=place.group(), start=place.start(), end=place.end(), entity=entity, value=value, method="alias"
            )
        )
    return (*mentions, *found), frozenset(families)
