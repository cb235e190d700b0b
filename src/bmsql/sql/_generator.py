"""Own ways of writing nodes, for sqlglot's generators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp
from sqlglot.generator import Generator

#: Writes one node; the generator writes what is in it.
Writer = Callable[[Any, Any], str]


def with_writers(generator: Generator, writers: Mapping[type[exp.Expr], Writer]) -> Generator:
    """`generator`, which now writes the nodes of the given classes by `writers`.

    A subclass with methods of its own would be the usual way, but there is none of a compiled class. The table
    from classes to methods is the instance's in both; a writer may call the method that it stands for.
    """
    generator._dispatch = {**generator._dispatch, **writers}  # noqa: SLF001  # no public way is open to both
    return generator
