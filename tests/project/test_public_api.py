"""The public face: every name in an `__all__` exists and is documented, and importing costs next to nothing."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys

import pytest

import bmsql

HEAVY = ("duckdb", "google", "langchain_core", "langgraph", "numpy", "pandas", "pyarrow", "pydantic", "sqlglot")
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(bmsql.__path__, "bmsql.")
    if not any(part.startswith("_") for part in module.name.split("."))
)


@pytest.mark.parametrize("name", ["bmsql", *MODULES])
def test_public_names_exist_and_are_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert inspect.getdoc(module), f"{name} has no docstring"
    public = getattr(module, "__all__", None)
    assert public, f"{name} has no __all__"
    assert len(public) == len(set(public))
    values = {item: getattr(module, item) for item in public}
    undocumented = [
        item
        for item, value in values.items()
        # Read from the class itself: an inherited docstring speaks of something else.
        if (inspect.isclass(value) and not vars(value)["__doc__"]) or (inspect.isroutine(value) and not value.__doc__)
    ]
    assert undocumented == []


def test_names_are_reached_lazily_and_are_the_ones_their_module_defines() -> None:
    from bmsql import errors, types

    assert bmsql.Answer is types.Answer
    assert bmsql.SqlSyntaxError is errors.SqlSyntaxError
    assert set(errors.__all__) <= set(bmsql.__all__)
    assert set(bmsql.__all__) <= set(dir(bmsql))
    with pytest.raises(AttributeError, match="no attribute 'answer'"):
        _ = bmsql.answer


def loaded_after(statements: str) -> set[str]:
    """Return the names of the modules loaded by a fresh interpreter after some statements."""
    code = f"import json, sys\n{statements}\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_loads_nothing_heavy() -> None:
    loaded = loaded_after("import bmsql")
    assert "bmsql" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["ask", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    loaded = loaded_after(
        f"from bmsql.cli import main\nsys.argv = ['bmsql', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code"
    )
    # pydantic is light enough here, and options may be described by its models.
    assert loaded.isdisjoint(set(HEAVY) - {"pydantic"})


def test_the_drawn_error_tree_is_the_real_one() -> None:
    from bmsql import errors

    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in inspect.cleandoc(errors.__doc__ or "").splitlines():
        name = line.lstrip(" │├└─").split(" ", 1)[0]
        if name not in errors.__all__:
            continue
        depth = (len(line.strip()) and line.index(name) - 4) // 4
        path[depth:] = [name]
        drawn[name] = path[depth - 1] if depth else "Exception"
    real = {name: getattr(errors, name).__base__.__name__ for name in errors.__all__}
    assert drawn == real
