"""Reading a semantic model from YAML, with errors that name file, line and field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from bmsql.errors import SemanticModelError
from bmsql.semantic._schema import ROLE_REFERENCE, SAID_ROLE, Family, SemanticModel

SHIPPED = "biomedsql"


def load_semantic_model(source: str | Path | None = None) -> SemanticModel:
    """The semantic model in the file `source`, or the shipped BiomedSQL model when None.

    A bare name without a suffix means a shipped model. Raises `SemanticModelError` with file,
    line and field for anything that is wrong in it.
    """
    if source is None or str(source) == SHIPPED:
        return _shipped(SHIPPED)
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SemanticModelError(
            f"cannot read the semantic model: {error.strerror or error}.",
            file=str(source),
            remedy="Give the path of a YAML file, or 'biomedsql' for the shipped model.",
        ) from error
    except UnicodeDecodeError as error:
        raise SemanticModelError(
            "the file is not UTF-8 text.", file=str(source), remedy="Save it as UTF-8."
        ) from error
    return parse_semantic_model(text, file=str(source))


@lru_cache(maxsize=4)
def _shipped(name: str) -> SemanticModel:
    resource = files("bmsql.semantic") / "models" / f"{name}.yaml"
    return parse_semantic_model(resource.read_text(encoding="utf-8"), file=f"{name}.yaml")


def parse_semantic_model(text: str, *, file: str = "<text>") -> SemanticModel:
    """The semantic model that the YAML `text` describes; `file` is used in error messages."""
    root, data = read_yaml(text, file=file)
    if not isinstance(data, dict):
        raise SemanticModelError("a mapping was expected.", file=file, line=1, remedy="Start with `name:`.")
    try:
        model = SemanticModel.model_validate({**data, "file": file})
    except ValidationError as error:
        raise validation_error(error, root, file) from error
    for path, message in _inconsistencies(model):
        raise SemanticModelError(message, file=file, line=line_of(root, path), field=".".join(map(str, path)))
    return model


def read_yaml(text: str, *, file: str) -> tuple[yaml.Node | None, Any]:
    """The node tree (for line numbers) and the data of a YAML text."""
    loader_class: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = loader_class(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None, None
        _refuse_repeated_keys(root, file)
        return root, loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise SemanticModelError(
            f"not valid YAML: {error.problem or error.context}.",
            file=file,
            line=mark.line + 1 if mark else None,
            remedy="Check indentation, quotes and colons near this line.",
        ) from error
    except yaml.YAMLError as error:
        raise SemanticModelError(f"not valid YAML: {error}.", file=file) from error
    finally:
        loader.dispose()


def _refuse_repeated_keys(node: yaml.Node, file: str) -> None:
    """YAML loaders keep the last of two equal keys without a word, which hides a mistake."""
    seen_nodes: set[int] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if id(current) in seen_nodes:
            continue
        seen_nodes.add(id(current))
        if isinstance(current, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in current.value:
                if key.value in keys and key.tag != "tag:yaml.org,2002:merge":
                    raise SemanticModelError(
                        f"the key '{key.value}' is given twice.", file=file, line=key.start_mark.line + 1,
                        remedy="Keep one of the two.",
                    )
                keys.add(str(key.value))
                stack.append(value)
        elif isinstance(current, yaml.SequenceNode):
            stack.extend(current.value)


def validation_error(error: ValidationError, root: yaml.Node | None, file: str) -> SemanticModelError:
    """The first problem pydantic found, with its line; the remedy says how many more there are."""
    problems = error.errors()
    first = problems[0]
    path = tuple(part for part in first["loc"] if not str(part).startswith("function-"))
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = f"unknown field '{path[-1]}'"
    more = f" ({len(problems) - 1} more problems in this file)" if len(problems) > 1 else ""
    return SemanticModelError(
        f"{message}.{more}",
        file=file,
        line=line_of(root, path),
        field=".".join(str(part) for part in path),
        remedy="docs/semantic-models.md lists the fields.",
    )


def line_of(root: yaml.Node | None, path: Sequence[str | int]) -> int | None:
    """The 1-based line of the deepest node that `path` reaches."""
    node, line = root, root.start_mark.line + 1 if root else None
    for part in path:
        found: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(part):
                    found, line = value, key.start_mark.line + 1
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = node.value[part]
            line = found.start_mark.line + 1
        if found is None:
            return line
        node = found
    return line


def _said_roles(family: Family) -> Iterable[str]:
    """The roles that a family's wording speaks of."""
    say = family.say
    texts = [say.name, say.detail, *(case.say for fact in say.facts for case in fact.cases)]
    for text in texts:
        yield from SAID_ROLE.findall(text)
    yield from say.labels
    for fact in say.facts:
        yield from fact.about
        for case in fact.cases:
            yield from (condition.partition(" ")[0] for condition in case.when)


def _inconsistencies(model: SemanticModel) -> Iterable[tuple[tuple[str | int, ...], str]]:
    """References that lead nowhere, as (path, message)."""
    known_roles = {role for family in model.families.values() for role in (*family.roles, *family.derived)}

    def unknown(role: str) -> str:
        return f"the role '{role}' is not defined in any family."

    for name, family in model.families.items():
        for role in (*family.roles, *family.derived):
            if role.partition(".")[0] != name:
                yield ("families", name, "roles", role), f"the role must begin with '{name}.'."
        for field in ("show", "order"):
            value = getattr(family, field)
            for role in value if isinstance(value, tuple) else (value,) if value else ():
                if role not in known_roles:
                    yield ("families", name, field), unknown(role)
        for role, derived in family.derived.items():
            for used in ROLE_REFERENCE.findall(derived.sql):
                if used not in family.roles:
                    yield ("families", name, "derived", role, "sql"), unknown(used)
        for role in _said_roles(family):
            if role not in known_roles:
                yield ("families", name, "say"), unknown(role)
        if family.subject and model.entities and family.subject not in model.entities:
            yield ("families", name, "subject"), f"there is no entity '{family.subject}'."
    for name, table in model.tables.items():
        if table.family not in model.families:
            yield ("tables", name, "family"), f"there is no family '{table.family}'."
            continue
        if not table.columns and not table.optional:
            yield ("tables", name, "columns"), "a table needs columns, or `optional: true`."
        for column, spec in table.columns.items():
            if spec.role and spec.role not in model.families[table.family].roles:
                yield ("tables", name, "columns", column, "role"), unknown(spec.role)
        if model.evidence_key and table.columns and model.evidence_key not in table.columns:
            yield ("tables", name, "columns"), f"the evidence key '{model.evidence_key}' is not a column."
        for entity in (*table.about, *table.covers):
            if entity not in model.entities:
                yield ("tables", name, "about", entity), f"there is no entity '{entity}'."
    for name, entity in model.entities.items():
        if entity.pattern:
            try:
                re.compile(entity.pattern)
            except re.error as error:
                yield ("entities", name, "pattern"), f"not a regular expression: {error}."
        for family, recipe in entity.match.items():
            path = ("entities", name, "match", family)
            if family not in model.families:
                yield path, f"there is no family '{family}'."
            pairs = [role for pair in recipe.builds.values() for role in pair if role]
            for role in (*recipe.roles, *recipe.ids, *pairs, *((recipe.key,) if recipe.key else ())):
                if role not in known_roles:
                    yield path, unknown(role)
            if not recipe.roles and not recipe.builds:
                yield path, "a recipe needs roles, or builds for a region."
    for name, attribute in model.attributes.items():
        referenced = [
            *((family, role) for family, roles in attribute.show.items() for role in roles),
            *attribute.measure.items(),
            *attribute.test.items(),
        ]
        for family, role in referenced:
            if family not in model.families:
                yield ("attributes", name, "show"), f"there is no family '{family}'."
            elif role not in known_roles:
                yield ("attributes", name), unknown(role)
        if attribute.entity and attribute.entity not in model.entities:
            yield ("attributes", name, "entity"), f"there is no entity '{attribute.entity}'."
    for name, condition in model.conditions.items():
        for family, (role, _, _) in condition.where.items():
            if role not in known_roles:
                yield ("conditions", name, "where", family), unknown(role)
    for number, join in enumerate(model.joins):
        if join.entity not in model.entities:
            yield ("joins", number, "entity"), f"there is no entity '{join.entity}'."
        for family, sql in join.keys.items():
            for role in ROLE_REFERENCE.findall(sql):
                if role not in known_roles:
                    yield ("joins", number, "keys", family), unknown(role)
