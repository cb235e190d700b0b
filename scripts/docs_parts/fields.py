"""Tables of the fields of data models: names and types from the code, meanings from `fields.yaml`."""

from __future__ import annotations

import importlib
import types
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs_parts.markdown import summary, table

_PLAIN = {
    str: "text",
    bool: "true or false",
    int: "whole number",
    float: "number",
    type(None): "none",
    Any: "any value",
}


@cache
def _meanings() -> dict[str, dict[str, dict[str, str]]]:
    import yaml

    text = Path(__file__).with_name("fields.yaml").read_text(encoding="utf-8")
    groups: dict[str, dict[str, dict[str, str]]] = yaml.safe_load(text)
    return groups


def field_tables(group: str) -> str:
    """The tables of a group of models. Raises ValueError where code and meanings differ."""
    parts = []
    for path, meanings in _meanings()[group].items():
        module, name = path.split(":")
        model: type[BaseModel] = getattr(importlib.import_module(module), name)
        fields = {key: field for key, field in model.model_fields.items() if not field.exclude}
        if set(fields) != set(meanings):
            raise ValueError(f"fields.yaml and {name} differ in: {', '.join(sorted(set(fields) ^ set(meanings)))}")
        rows = [(f"`{key}`", _kind(field.annotation), _default(field), meanings[key]) for key, field in fields.items()]
        parts += [f"### `{name}`", summary(model), table(("Field", "Kind", "Default", "Meaning"), rows)]
    return "\n\n".join(parts)


def _kind(annotation: Any) -> str:
    """A type in words."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " / ".join(f"`{value}`" for value in arguments if value != "")
    if origin in (Union, types.UnionType):
        kinds = [_kind(argument) for argument in arguments if argument is not type(None)]
        return "value" if len(kinds) > 2 else " or ".join(kinds)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return f"list of {_kind(arguments[0])}"
    if origin is tuple:
        return f"{len(arguments)} values"
    if origin is dict:
        return f"mapping to {_kind(arguments[1])}"
    return f"`{annotation.__name__}`"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:g}"
    if isinstance(value, tuple) and value:
        return ", ".join(f"`{item}`" for item in value)
    return "-"
