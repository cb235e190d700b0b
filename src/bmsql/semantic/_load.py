"""Reading a semantic model from YAML, with errors that name file, line and field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from yaml.constructor import SafeConstructor
from yaml.reader import Reader

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
    remedy = f"Give the path of a YAML file, or '{SHIPPED}' for the shipped model."
    return parse_semantic_model(read_text(source, "semantic model", remedy), file=str(source))


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


def read_text(path: str | Path, what: str, remedy: str) -> str:
    """The UTF-8 text of a file; SemanticModelError, with `remedy`, says that the `what` cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise SemanticModelError(
            f"cannot read the {what}: {error.strerror or error}.", file=str(path), remedy=remedy
        ) from error
    except UnicodeDecodeError as error:
        raise SemanticModelError("the file is not UTF-8 text.", file=str(path), remedy="Save it as UTF-8.") from error


def read_yaml(text: str, *, file: str) -> tuple[yaml.Node | None, Any]:
    """The node tree (for line numbers) and the data of a YAML text."""
    unprintable = Reader.NON_PRINTABLE.search(text)
    if unprintable is not None:
        raise SemanticModelError(
            f"not valid YAML: the character U+{ord(unprintable.group()):04X} is not allowed.",
            file=file,
            line=text.count("\n", 0, unprintable.start()) + 1,
            remedy="Remove it.",
        )
    loader_class: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = loader_class(text)
    root: yaml.Node | None = None
    try:
        root = loader.get_single_node()
        if root is None:
            return None, None
        _refuse_wrong_keys(root, file)
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
    except RecursionError as error:
        raise SemanticModelError("too deeply nested.", file=file, remedy="Write it with fewer levels.") from error
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        # A scalar that looks like a number or a date and is none: 2020-99-99.
        wrong = _wrong_scalar(root)
        shown = f"'{wrong.value[:40]}'" if wrong is not None else "a value"
        raise SemanticModelError(
            f"{shown} is no valid number or date.",
            file=file,
            line=wrong.start_mark.line + 1 if wrong is not None else None,
            remedy="Correct it, or put it in quotes if it is a text.",
        ) from error
    finally:
        loader.dispose()


def _nodes(root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Every node of a tree once, keys of mappings included, in no certain order."""
    seen: set[int] = set()
    stack = [root] if root is not None else []
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            stack.extend(part for pair in node.value for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            stack.extend(node.value)


def _wrong_scalar(root: yaml.Node | None) -> yaml.ScalarNode | None:
    """The first scalar, from the top of the text, whose value cannot be made."""
    wrong: list[yaml.ScalarNode] = []
    for node in _nodes(root):
        if isinstance(node, yaml.ScalarNode):
            try:
                SafeConstructor().construct_object(node)
            except (ValueError, LookupError, AttributeError, TypeError):
                wrong.append(node)
    return min(wrong, key=lambda node: node.start_mark.line, default=None)


def _refuse_wrong_keys(root: yaml.Node, file: str) -> None:
    """Raise for a key that is given twice or is no scalar.

    YAML loaders keep the last of two equal keys without a word, which hides a mistake.
    """
    for current in _nodes(root):
        if isinstance(current, yaml.MappingNode):
            keys: set[str] = set()
            for key, _ in current.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise SemanticModelError(
                        "a list or mapping cannot be a key.",
                        file=file,
                        line=key.start_mark.line + 1,
                        remedy="Give a plain word as the key.",
                    )
                if key.value in keys and key.tag != "tag:yaml.org,2002:merge":
                    raise SemanticModelError(
                        f"the key '{key.value}' is given twice.",
                        file=file,
                        line=key.start_mark.line + 1,
                        remedy="Keep one of the two.",
                    )
                keys.add(str(key.value))


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
