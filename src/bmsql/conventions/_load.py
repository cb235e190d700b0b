"""Reading rule files, with errors that name file, line and field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from bmsql.conventions._book import RuleBook
from bmsql.conventions._schema import PROFILES, Profile, Rule, RuleFile
from bmsql.errors import ConfigurationError, SemanticModelError
from bmsql.semantic import line_of, read_text, read_yaml, validation_error

_SHIPPED = "rules.yaml"
_REMEDY = "docs/conventions.md lists the fields of a rule."


def load_rules(
    *paths: str | Path,
    profile: str = "strict",
    disable: Iterable[str] = (),
    override: Mapping[str, Any] | None = None,
) -> RuleBook:
    """The shipped rules, changed by the rule files `paths` in their order, then by the arguments.

    A rule in a later file changes the fields it gives of the rule with its name, or is new.
    `disable` names rules to leave out; `override` gives, by rule, a new value or a mapping of fields.
    Raises `SemanticModelError` (file, line, field) for a wrong file, `ConfigurationError` for an
    unknown profile or rule name.
    """
    if profile not in PROFILES:
        raise ConfigurationError(f"there is no profile '{profile}'.", remedy=f"Choose one of: {', '.join(PROFILES)}.")
    chosen: Profile = "biomedsql" if profile == "biomedsql" else "strict"
    fields = {name: rule.model_dump(exclude_unset=True) for name, rule in _shipped().rules.items()}
    switched_off: dict[str, str] = {}
    for path in paths:
        parsed = _parse(read_text(path, "rule file", "Give the path of a YAML file."), file=str(path), known=fields)
        for name, rule in parsed.rules.items():
            fields[name] = {**fields.get(name, {}), **rule.model_dump(exclude_unset=True)}
        for name in parsed.disable:
            switched_off[name] = f" ({path})"
    for name, change in (override or {}).items():
        _require(name, fields, "")
        fields[name] = {**fields[name], **(change if isinstance(change, Mapping) else {"value": change})}
    for name in disable:
        switched_off[name] = ""
    for name, where in switched_off.items():
        _require(name, fields, where)
    rules = {name: _rule(name, values) for name, values in fields.items() if name not in switched_off}
    return RuleBook(rules, profile=chosen)


def _rule(name: str, values: Mapping[str, Any]) -> Rule:
    try:
        return Rule.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise ConfigurationError(
            f"the rule '{name}' is wrong{f' ({place})' if place else ''}: {message}.", remedy=_REMEDY
        ) from error


def _require(name: str, known: Iterable[str], where: str) -> None:
    names = tuple(known)
    if name not in names:
        near = get_close_matches(name, names, n=1)
        raise ConfigurationError(
            f"there is no rule '{name}'{where}.",
            remedy=f"Did you mean '{near[0]}'?" if near else f"The rules are: {', '.join(names)}.",
        )


@lru_cache(maxsize=1)
def _shipped() -> RuleFile:
    text = (files("bmsql.conventions") / _SHIPPED).read_text(encoding="utf-8")
    return _parse(text, file=_SHIPPED, known={})


def _parse(text: str, *, file: str, known: Mapping[str, Mapping[str, Any]]) -> RuleFile:
    """The rule file that `text` holds; a rule of `known` may leave out the fields it does not change."""
    root, data = read_yaml(text, file=file)
    if not isinstance(data, dict):
        raise SemanticModelError("a mapping was expected.", file=file, line=1, remedy="Start with `rules:`.")
    given = data.get("rules") or {}
    if not isinstance(given, dict):
        raise SemanticModelError(
            "a mapping of rule names was expected.", file=file, line=line_of(root, ("rules",)), field="rules"
        )
    rules: dict[str, Any] = {}
    for name, values in given.items():
        rules[name] = values
        if isinstance(values, dict):
            rules[name] = {**known.get(name, {}), **values, "name": name}
    try:
        parsed = RuleFile.model_validate({**data, "rules": rules})
    except ValidationError as error:
        wrong = validation_error(error, root, file)
        wrong.remedy = _REMEDY
        raise wrong from error
    _check_references(parsed, set(known) | set(parsed.rules), root, file)
    return parsed


def _check_references(parsed: RuleFile, names: set[str], root: yaml.Node | None, file: str) -> None:
    """Rules that other rules speak of must exist."""
    for name, rule in parsed.rules.items():
        spoken_of = [("complement", rule.complement)] if rule.complement else []
        spoken_of += [("companions", other) for others in rule.companions.values() for other in others]
        for field, other in spoken_of:
            if other not in names:
                raise SemanticModelError(
                    f"there is no rule '{other}'.",
                    file=file,
                    line=line_of(root, ("rules", name, field)),
                    field=f"rules.{name}.{field}",
                )
