"""Reading what the index needs: what it costs, and of a changed knowledge base only the changed tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bmsql.errors import BudgetExceededError
from bmsql.linking._arrow import Texts
from bmsql.linking._reads import MAX_VALUES, SECONDS, Read, Row, ValueSource
from bmsql.types import Catalog, Limits, size_text

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class TableCost:
    """What reading the values of one table takes.

    bytes, cost (US dollars): None where the backend does not meter bytes.
    """

    table: str
    columns: tuple[str, ...]
    bytes: int | None
    cost: float | None = None


@dataclass(frozen=True)
class IndexCost:
    """What building an index takes, by table; tables whose values are at hand are not in it."""

    tables: tuple[TableCost, ...]
    unchanged: tuple[str, ...] = ()

    @property
    def bytes(self) -> int | None:
        """Bytes read in all; None where the backend does not meter them."""
        return _sum(table.bytes for table in self.tables)

    @property
    def cost(self) -> float | None:
        """US dollars in all; None where the backend does not meter bytes."""
        return _sum(table.cost for table in self.tables)


@dataclass
class Values:
    """Values by read, with the fingerprint of the table that each is from."""

    rows: dict[Read, Sequence[Row]] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)

    def of(self, table: str, fingerprint: str, reads: Iterable[Read]) -> dict[Read, Sequence[Row]] | None:
        """The values of a table, if all are here and the table is the same still."""
        if not fingerprint or self.fingerprints.get(table) != fingerprint:
            return None
        return {read: self.rows[read] for read in reads} if all(read in self.rows for read in reads) else None

    @property
    def truncated(self) -> list[str]:
        """Columns, as `table.column`, of which only a part was read."""
        return sorted({f"{read.table}.{read.columns[0]}" for read, rows in self.rows.items() if len(rows) > MAX_VALUES})


_LEAST_BILLED = 100 * 1024**2
"""A limit below what the database bills at least would fail small queries."""
_NULL = "\0"


def value_columns(values: Values) -> tuple[list[list[object]], list[str]]:
    """Values to be kept: what each read was and how many rows it gave, and all cells one after the other."""
    reads: list[list[object]] = []
    cells: list[str] = []
    for read, rows in values.rows.items():
        reads.append([read.table, read.columns, read.separator, read.until, len(rows)])
        cells.extend(_NULL if cell is None else cell for row in rows for cell in row)
    return reads, cells


def values_of(fingerprints: dict[str, str], reads: Iterable[Sequence[Any]], cells: Texts) -> Values:
    """What `value_columns` kept. Raises LookupError, TypeError or ValueError for what it did not."""
    found = Values(fingerprints=dict(fingerprints))
    place = 0
    for table, columns, separator, until, count in reads:
        width = len(columns)
        texts = [cells.text(place + number) for number in range(width * count)]
        nullable = [None if text == _NULL else text for text in texts]
        read = Read(table, tuple(columns), separator, until)
        found.rows[read] = [tuple(nullable[start : start + width]) for start in range(0, width * count, width)]
        place += width * count
    return found


def cost(source: ValueSource, catalog: Catalog, reads: Iterable[Read], held: Values) -> IndexCost:
    """What `fetch` would take. Raises what the backend's dry run raises."""
    tables, unchanged = [], []
    for table, wanted in _by_table(reads).items():
        if held.of(table, _fingerprint(source, table, wanted), wanted) is not None:
            unchanged.append(table)
            continue
        runs = [source.dry_run(read.query(catalog)) for read in wanted]
        read, dollars = _sum(run.bytes_processed for run in runs), _sum(run.cost for run in runs)
        tables.append(TableCost(table, _columns(wanted), read, dollars))
    return IndexCost(tuple(tables), tuple(unchanged))


def _sum(amounts: Iterable[N | None]) -> N | None:
    """The sum of the known amounts; None where none is known."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known[1:], known[0]) if known else None


def fetch(
    source: ValueSource, catalog: Catalog, reads: Iterable[Read], held: Values, *, max_bytes: int | None = None
) -> Values:
    """The values of `reads`: from `held` for the tables that are the same still, else from the backend.

    max_bytes: what may be read where the backend meters bytes; more raises BudgetExceededError before
    anything is read. Raises what the backend raises.
    """
    if max_bytes is not None:
        check(cost(source, catalog, reads, held), source.name, max_bytes)
    limits = Limits(rows=MAX_VALUES + 1, seconds=SECONDS)
    if max_bytes:
        limits = limits.model_copy(update={"bytes_billed": max(max_bytes, _LEAST_BILLED)})
    found = Values()
    for table, wanted in _by_table(reads).items():
        fingerprint = _fingerprint(source, table, wanted)
        rows = held.of(table, fingerprint, wanted)
        if rows is None:
            rows = {read: source.execute(read.query(catalog), limits).rows for read in wanted}
        found.rows.update(rows)
        found.fingerprints[table] = fingerprint
    return found


def check(needed: IndexCost, name: str, max_bytes: int) -> None:
    """Raise BudgetExceededError when an index would cost more than allowed."""
    size = needed.bytes or 0
    if size > max_bytes:
        raise BudgetExceededError(
            f"Building the value index of {name} reads {size_text(size)}; {size_text(max_bytes)} are allowed.",
            remedy=f"See what it costs and build it once: `bmsql kb index --backend {name}`.",
        )


def _fingerprint(source: ValueSource, table: str, reads: Sequence[Read]) -> str:
    """Of a table where the backend can tell, else of the whole knowledge base."""
    of_table = getattr(source, "table_fingerprint", None)
    return str(of_table(table, _columns(reads))) if of_table is not None else source.fingerprint()


def _columns(reads: Iterable[Read]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for read in reads for column in read.columns))


def _by_table(reads: Iterable[Read]) -> Mapping[str, list[Read]]:
    tables: dict[str, list[Read]] = {}
    for read in reads:
        tables.setdefault(read.table, []).append(read)
    return tables
