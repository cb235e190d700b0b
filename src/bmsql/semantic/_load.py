"""Reading a semantic model from YAML, with errors that name file, line and field."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from bmsql.errors import SemanticModelError
from bmsql.semantic._consistency import inconsistencies
from bmsql.semantic._schema import SemanticModel

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
        raise SemanticModelError("the file is not UTF-8 text.", file=str(source), remedy="Save it as UTF-8.") from error
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
    for path, message in inconsistencies(model):
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
                        f"the key '{key.value}' is given twice.",
                        file=file,
                        line=key.start_mark.line + 1,
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
