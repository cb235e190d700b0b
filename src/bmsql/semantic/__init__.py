"""Semantic models: what a knowledge base holds, as YAML that a user can write."""

from bmsql.semantic._introspect import introspect_model
from bmsql.semantic._load import load_semantic_model, parse_semantic_model
from bmsql.semantic._schema import (
    Attribute,
    Avoid,
    Case,
    Column,
    Condition,
    Derived,
    Entity,
    Example,
    Fact,
    Family,
    Group,
    Join,
    Recipe,
    Role,
    SemanticModel,
    Table,
    Value,
    Wording,
)

__all__ = [
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
    "load_semantic_model",
    "parse_semantic_model",
]
