"""Templates of questions, as data: wordings with slots, and a gold query over roles and entities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from bmsql.bench._types import AnswerKind, BioCategory, Split
from bmsql.data import safe_yaml
from bmsql.errors import ConfigurationError
from bmsql.types import Frozen, Scalar

Profile = Literal["strict", "biomedsql"]
PROFILES: tuple[Profile, ...] = ("strict", "biomedsql")
# Quantifiers of regular expressions, such as `{4}`, are none.
PLACEHOLDER = re.compile(r"\{([A-Za-z_][^{}]*)\}")
_SLOT_IN_TEXT = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_SOURCE = re.compile(r"(\w+)(?:\((\w+)\))?")


class Slot(Frozen):
    """A place in a wording that is filled with something drawn.

    Exactly one of these says what: `entity` (with `source`: the alias whose rows it is drawn from),
    `role` (a column of `source`), `about` (an alias: the entity value that tells its tables apart), `of`
    (given values, each with the ways to say it). differs: another slot whose value it must not have.
    only: the values to draw from. free: drawn apart from the other slots of its source, so that the two
    may never occur together.
    """

    entity: str = ""
    role: str = ""
    about: str = ""
    of: dict[Scalar, tuple[str, ...]] = Field(default_factory=dict)
    source: str = ""
    differs: str = ""
    only: tuple[Scalar, ...] = ()
    free: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> Slot:
        if sum(map(bool, (self.entity, self.role, self.about, self.of))) != 1:
            raise ValueError("a slot has exactly one of entity, role, about and of")
        if (self.entity or self.role) and not self.source:
            raise ValueError("a slot of an entity or a role needs the source that it is drawn from")
        return self


class SourceSpec(Frozen):
    """A family that the gold query reads under an alias; `pinned` is the slot that chooses its table."""

    family: str
    pinned: str = ""


class Template(Frozen):
    """One kind of question.

    id: `family.name`; the split belongs to it. ask: wordings, with slots in braces. sources: alias to
    `family`, or `family(slot)` where a slot chooses among its tables. each: the alias whose tables are all
    asked, by UNION ALL. strata: conditions on the rows that slots are drawn from, used in turn, so that
    some results are empty and some large. absent: slots that are at times filled with something that the
    source does not hold. gold: SQL in the BigQuery dialect, by profile where they differ. kind, key: what is
    compared, see `bmsql.bench.Question`. because: why an unanswerable question cannot be answered.
    filled: drawn only where the gold's limit is reached, so that it does not matter how the list would go on.
    query_type, bio: see `bmsql.bench.Question`. weight: its share among the templates.
    """

    id: str = Field(pattern=r"^[a-z0-9_]+\.[a-z0-9_]+$")
    split: Split
    ask: tuple[str, ...] = Field(min_length=1)
    sources: dict[str, str] = Field(default_factory=dict)
    each: str = ""
    slots: dict[str, Slot] = Field(default_factory=dict)
    strata: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    gold: dict[Profile, str] = Field(default_factory=dict)
    kind: AnswerKind = "keys"
    keys: dict[Profile, str] = Field(default_factory=dict)
    kinds: dict[Profile, AnswerKind] = Field(default_factory=dict)
    because: str = ""
    query_type: Literal["general", "refined"] = "general"
    bio: tuple[BioCategory, ...] = ()
    filled: bool = False
    weight: float = Field(default=1.0, gt=0)

    @property
    def family(self) -> str:
        """The family of questions that it belongs to."""
        return self.id.partition(".")[0]

    @cached_property
    def bound_sources(self) -> dict[str, SourceSpec]:
        """The sources, read."""
        found = {}
        for alias, text in self.sources.items():
            match = _SOURCE.fullmatch(text)
            if match is None:
                raise ValueError(f"source {alias}: {text!r} is neither `family` nor `family(slot)`")
            found[alias] = SourceSpec(family=match.group(1), pinned=match.group(2) or "")
        return found

    def kind_in(self, profile: Profile) -> AnswerKind:
        """What is compared under a profile."""
        return self.kinds.get(profile, self.kind)

    def masked(self) -> tuple[str, ...]:
        """The wordings with every slot masked, in a form in which two equal ones cannot be told apart."""
        return tuple(mask(_SLOT_IN_TEXT.sub("_", wording)) for wording in self.ask)

    @model_validator(mode="before")
    @classmethod
    def _per_profile(cls, given: Any) -> Any:
        """`gold` and `key` may be one text for both profiles."""
        if not isinstance(given, dict):
            return given
        given = dict(given)
        gold, key = given.get("gold"), given.pop("key", "")
        if isinstance(gold, str):
            given["gold"] = dict.fromkeys(PROFILES, gold)
        if key:
            given["keys"] = dict.fromkeys(PROFILES, key) if isinstance(key, str) else key
        return given

    @model_validator(mode="after")
    def _whole(self) -> Template:
        self._check_gold()
        self._check_wordings()
        for name, slot in self.slots.items():
            for alias in filter(None, (slot.source, slot.about)):
                if alias not in self.bound_sources:
                    raise ValueError(f"slot {name}: there is no source {alias!r}")
        for alias, source in self.bound_sources.items():
            if source.pinned and source.pinned not in self.slots:
                raise ValueError(f"source {alias}: there is no slot {source.pinned!r}")
        return self

    def _check_gold(self) -> None:
        if (self.kind == "abstain") == bool(self.gold):
            raise ValueError("a template has either gold or the kind 'abstain'")
        if self.kind == "abstain" and not self.because:
            raise ValueError("an unanswerable template says why, as `because`")
        if self.gold and set(self.gold) != set(PROFILES):
            raise ValueError("gold by profile names both profiles")

    def _check_wordings(self) -> None:
        """Every wording names every slot: gold looks at all of them."""
        for wording in self.ask:
            said = {match.group(1) for match in _SLOT_IN_TEXT.finditer(wording)}
            for name in sorted(said - set(self.slots)):
                raise ValueError(f"the wording {wording!r} names the slot {{{name}}}, which is not defined")
            if self.gold and (unsaid := sorted(set(self.slots) - said)):
                raise ValueError(f"the wording {wording!r} does not say {', '.join(unsaid)}")


class Names(Frozen):
    """How an entity's stored value is said: `one` of it, and `many` where a plural is needed."""

    one: tuple[str, ...] = ()
    many: tuple[str, ...] = ()


class TemplateBook(Frozen):
    """The templates of one knowledge base.

    model: the semantic model that they speak of. fragments: named conditions of gold queries, with their
    thresholds, by profile where they differ; `{x.role}` stands for a role of the source they are given.
    names: by entity and stored value, how it is said in a question.
    """

    format: Literal[1] = 1
    model: str
    fragments: dict[str, str | dict[Profile, str]] = Field(default_factory=dict)
    names: dict[str, dict[str, Names]] = Field(default_factory=dict)
    templates: tuple[Template, ...] = Field(min_length=1)

    @cached_property
    def by_id(self) -> dict[str, Template]:
        """The templates by id."""
        return {template.id: template for template in self.templates}

    @model_validator(mode="after")
    def _distinct(self) -> TemplateBook:
        seen: dict[str, Template] = {}
        if len(self.by_id) != len(self.templates):
            raise ValueError("two templates have the same id")
        for template in self.templates:
            for wording in dict.fromkeys(template.masked()):
                other = seen.setdefault(wording, template)
                if other is not template:
                    raise ValueError(f"{other.id} and {template.id} share the wording {wording!r}")
        return self


def mask(text: str) -> str:
    """A question in lower case, without punctuation and doubled spaces."""
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


def shipped_templates() -> TemplateBook:
    """The templates of the BiomedSQL knowledge base that ship with bmsql."""
    folder = files("bmsql.bench.factory") / "templates"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".yaml"))
    return _book([(name, (folder / name).read_text(encoding="utf-8")) for name in names])


def load_templates(paths: Sequence[str | Path]) -> TemplateBook:
    """The templates of YAML files, taken together. Raises ConfigurationError when one is wrong."""
    texts = []
    for path in map(Path, paths):
        try:
            texts.append((str(path), path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as e:
            raise ConfigurationError(f"{path}: the templates cannot be read: {e}.") from e
    return _book(texts)


def _book(texts: Sequence[tuple[str, str]]) -> TemplateBook:
    merged: dict[str, Any] = {"templates": [], "fragments": {}, "names": {}}
    for name, text in texts:
        try:
            given = safe_yaml(text)
        except yaml.YAMLError as e:
            raise ConfigurationError(f"{name} is no YAML: {e}.") from e
        if not isinstance(given, dict):
            raise ConfigurationError(f"{name}: a template file is a mapping with `templates`.")
        for field, value in given.items():
            if isinstance(value, list):
                merged.setdefault(field, []).extend(value)
            elif isinstance(value, dict):
                merged.setdefault(field, {}).update(value)
            else:
                merged[field] = value
    try:
        return TemplateBook.model_validate(merged)
    except ValidationError as e:
        raise ConfigurationError(_first(merged, e, ", ".join(name for name, _ in texts))) from e


def _first(given: dict[str, Any], error: ValidationError, files: str) -> str:
    """The first problem in one sentence, with the template that it is in."""
    problem = error.errors()[0]
    place = [str(part) for part in problem["loc"]]
    if place[:1] == ["templates"] and len(place) > 1:
        template = given["templates"][int(place[1])]
        place[:2] = [str(template.get("id", place[1]) if isinstance(template, dict) else place[1])]
    where = ".".join(place)
    message = problem["msg"].removeprefix("Value error, ")
    return f"{files}: {where + ': ' if where else ''}{message}."
