"""What the names of a plan stand for in a semantic model."""

from __future__ import annotations

from bmsql.semantic import SemanticModel


def roles_of(name: str, model: SemanticModel) -> set[str]:
    """The roles that a name of the plan stands for: a role, or an entity's own and those of what it is."""
    if name not in model.entities:
        return {name}
    names = {name, *(other for other, spec in model.entities.items() if spec.same_as == name)}
    roles: set[str] = set()
    for each in names:
        for recipe in model.entities[each].match.values():
            roles |= {*recipe.roles, *recipe.ids, recipe.shown}
    return roles
