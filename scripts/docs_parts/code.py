"""What the code says of itself: errors, the public names, the commands."""

from __future__ import annotations

import importlib
import inspect
import re
import typing
from typing import Any

from docs_parts.markdown import block, summary, table

_MODULES = (
    "bmsql.types",
    "bmsql.errors",
    "bmsql.semantic",
    "bmsql.sql",
    "bmsql.conventions",
    "bmsql.linking",
    "bmsql.planning",
    "bmsql.backends",
    "bmsql.reasoners",
    "bmsql.reasoners.chat",
    "bmsql.graph",
    "bmsql.agent",
    "bmsql.loading",
    "bmsql.bench",
    "bmsql.bench.report",
    "bmsql.bench.systems",
    "bmsql.testing",
)
# Annotations are kept as text, in quotes.
_QUOTED = re.compile(r"(: |-> )'([^']*)'")


def error_tree() -> str:
    """The tree of errors, as the docstring of `bmsql.errors` draws it."""
    from bmsql import errors

    drawing = inspect.cleandoc(errors.__doc__ or "").split("::\n\n", 1)[1].split("\n\n", 1)[0]
    return block("text", inspect.cleandoc(drawing))


def error_table() -> str:
    """Every error with its meaning."""
    from bmsql import errors

    return table(
        ("Error", "Raised when"), [(f"`{name}`", summary(getattr(errors, name))) for name in sorted(errors.__all__)]
    )


def exit_codes() -> str:
    """The exit codes of the command, as its entry point describes them."""
    from bmsql.cli import main

    text = inspect.getdoc(main) or ""
    codes = re.findall(r"(\d): ([^;.]+)[;.]", " ".join(text.split("\n\n", 1)[1].split()))
    return table(("Exit code", "Meaning"), [(f"`{code}`", meaning) for code, meaning in codes])


def api() -> str:
    """The names that `bmsql` itself offers, apart from the errors."""
    import bmsql
    from bmsql import errors

    names = [name for name in bmsql.__all__ if name not in errors.__all__ and not name.startswith("__")]
    return table(("Name", "What it is"), [(f"`bmsql.{name}`", summary(getattr(bmsql, name))) for name in names])


def agent_methods() -> str:
    """The methods and properties of the agent."""
    from bmsql import Agent

    parts = [block("text", f"Agent{_signature(Agent)}"), inspect.getdoc(Agent) or ""]
    for name, member in vars(Agent).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            parts += [f"### `Agent.{name}`", inspect.getdoc(member) or ""]
        elif inspect.isfunction(member):
            parts += [f"### `Agent.{name}`", block("text", f"{name}{_signature(member)}"), inspect.getdoc(member) or ""]
    return "\n\n".join(parts)


def modules() -> str:
    """The public names of each part, for those who build on one."""
    parts = []
    for name in _MODULES:
        module = importlib.import_module(name)
        if name == "bmsql.errors":
            parts += [f"### `{name}`", "See [Errors](errors.md)."]
            continue
        rows = [(f"`{item}`", _about(module, item)) for item in module.__all__]
        parts += [f"### `{name}`", summary(module), table(("Name", "What it is"), rows)]
    return "\n\n".join(parts)


def _about(module: Any, name: str) -> str:
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        return summary(value)
    text = " ".join(str(value).split()) if isinstance(value, str | tuple | int) else str(value)
    shown = re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)
    return f"`{shown}`" if len(shown) <= 120 else f"{type(value).__name__} with {len(value)} items"


def _signature(function: Any) -> str:
    signature = inspect.signature(function)
    text = str(signature.replace(parameters=[p for p in signature.parameters.values() if p.name != "self"]))
    text = _QUOTED.sub(r"\1\2", text).removesuffix(" -> None")
    if len(text) <= 100:
        return text
    inner, _, result = text[1:].rpartition(")")
    return "(\n    " + ",\n    ".join(_split(inner)) + f",\n){result}"


def _split(text: str) -> list[str]:
    """Parameters, cut at the commas outside brackets."""
    depth, parts = 0, [""]
    for character in text:
        depth += (character in "[({") - (character in "])}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def cli_reference() -> str:
    """Every command with its arguments and options."""
    import typer

    from bmsql.cli._app import app

    return "\n\n".join(_command("bmsql", typer.main.get_command(app)))


def _command(path: str, command: Any) -> list[str]:
    parts: list[str] = []
    children = getattr(command, "commands", None)
    if children is None or path == "bmsql":
        if not command.help:
            raise ValueError(f"the command {path} is not documented")
        usage = " ".join([path, *_usage(command), *(["COMMAND"] if children else [])])
        parts += [f"## `{path}`", command.help, block("text", usage), _options(path, command)]
    for name, child in (children or {}).items():
        parts += _command(f"{path} {name}", child)
    return [part for part in parts if part]


def _usage(command: Any) -> list[str]:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    shown = [_argument(param) + ("..." if param.nargs == -1 else "") for param in arguments]
    return [
        "[OPTIONS]",
        *(text if param.required else f"[{text}]" for text, param in zip(shown, arguments, strict=True)),
    ]


def _argument(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _options(path: str, command: Any) -> str:
    rows = []
    for param in command.params:
        if param.name == "help":
            continue
        if not param.help:
            raise ValueError(f"the parameter {param.name} of {path} is not documented")
        if param.param_type_name == "argument":
            shown = f"`{_argument(param)}`"
        else:
            takes = "" if param.is_flag else f" {param.metavar or _takes(command, param.name)}"
            shown = ", ".join(f"`{name}{takes}`" for name in (*param.opts, *param.secondary_opts))
        default = param.default
        plain = isinstance(default, int | str) and not isinstance(default, bool) and default != ""
        rows.append((shown, param.help + (f" Default: {default}." if plain and param.show_default else "")))
    return table(("Argument or option", "Meaning"), rows) if rows else ""


def _takes(command: Any, name: str) -> str:
    """The kind of value that an option takes, by the annotation of its parameter."""
    hint = str(typing.get_type_hints(inspect.unwrap(command.callback))[name])
    return "FILE" if "Path" in hint else "NUMBER" if "int" in hint or "float" in hint else "TEXT"
