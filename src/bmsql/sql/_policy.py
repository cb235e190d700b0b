"""What a query may read and how large it may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits of the guard. The default reads nothing but the tables of the catalogue.

    datasets: further datasets, each as `project.dataset`, whose tables may be read although the
    catalogue does not list them (their columns are then not checked). information_schema: whether
    `INFORMATION_SCHEMA` views of the catalogue's own dataset may be read. parameters: whether query
    parameters (`@name`, `?`) may stand in the text. max_length: characters; max_nesting: brackets,
    CASE, types, signs and NOT within each other. checks: whether names, types and grouping are checked and
    repaired too; without, a query that the guard lets pass is left to the database as it was written.
    """

    datasets: tuple[str, ...] = ()
    information_schema: bool = False
    parameters: bool = False
    max_length: int = 100_000
    max_nesting: int = 60
    checks: bool = True


DEFAULT_POLICY = Policy()
