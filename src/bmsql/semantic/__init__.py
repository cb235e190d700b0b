"""Semantic models: what a knowledge base holds, as YAML that a user can write."""

from bmsql.semantic._family import ROLE_REFERENCE, Avoid, Case, Derived, Fact, Family, Role, Wording
from bmsql.semantic._introspect import introspect_model
from bmsql.semantic._load import (
    line_of,
    load_semantic_model,
    parse_semantic_model,
    read_text,
    read_yaml,
    validation_error,
)
from bmsql.semantic._schema import (
    Attribute,
    Column,
    Condition,
    Entity,
    Example,
    Group,
    Join,
    Recipe,
    SemanticModel,
    Table,
    Value,
)

__all__ = [
    "ROLE_REFERENCE",
    "Attribute",
    "Avoid",
    "Case",
    "Column",
    "Condition",
    "Derived",
    "Entity",
    "Example",
    "Fact",
    "Family",
    "Group",
    "Join",
    "Recipe",
    "Role",
    "SemanticModel",
    "Table",
    "Value",
    "Wording",
    "introspect_model",
    "line_of",
    "load_semantic_model",
    "parse_semantic_model",
    "read_text",
    "read_yaml",
    "validation_error",
]
