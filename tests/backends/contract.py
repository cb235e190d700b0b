"""What every backend must do. A new backend subclasses `BackendContract` and gives a `case`."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from bmsql.backends import Backend, DryRun
from bmsql.errors import (
    BackendUnavailableError,
    ExecutionError,
    InvalidSqlError,
    QueryCancelledError,
    QueryTimeoutError,
)
from bmsql.types import Limits, ValidatedQuery

Query = Callable[[str], ValidatedQuery]


@dataclass(frozen=True)
class Case:
    """An open backend, and a table in it of at least 100 rows with columns of known kinds."""

    backend: Backend
    table: str
    rows: int
    key: str  # STRING, unique, never NULL
    text: str  # STRING
    number: str  # FLOAT64
    source: str | None  # the source of the row with the lowest key, None where none is recorded
    moment: float = 0.4  # seconds in which a query can begin, and an endless one does not use up the memory

    @property
    def qualified(self) -> str:
        return f"`{self.backend.catalog().qualified(self.table)}`"


class BackendContract:
    """The tests; `case` is the subclass's fixture."""

    @pytest.fixture
    def case(self) -> Case:
        raise AssertionError("a subclass overrides this fixture")

    def test_is_a_backend(self, case: Case) -> None:
        assert isinstance(case.backend, Backend)
        assert case.backend.name
        assert case.backend.dialect == "bigquery"

    def test_catalog_tells_tables_columns_and_types(self, case: Case) -> None:
        catalog = case.backend.catalog()
        table = catalog.by_name[case.table]
        assert catalog.project
        assert catalog.dataset
        assert table.rows in (case.rows, None)
        types = {column.name: column.type for column in table.columns}
        assert (types[case.key], types[case.text], types[case.number]) == ("STRING", "STRING", "FLOAT64")
        assert not [each.name for each in catalog.tables if each.name.startswith("_row_sources")]

    def test_execute_returns_typed_rows_in_order(self, case: Case, query: Query) -> None:
        result = case.backend.execute(
            query(f"SELECT {case.key}, {case.number} FROM {case.qualified} ORDER BY {case.key} LIMIT 5"), Limits()
        )
        assert [(column.name, column.type) for column in result.columns] == [
            (case.key, "STRING"),
            (case.number, "FLOAT64"),
        ]
        keys = [row[0] for row in result.rows]
        assert len(keys) == 5
        assert keys == sorted(keys)
        assert not result.truncated
        assert result.seconds > 0

    def test_count_is_an_integer(self, case: Case, query: Query) -> None:
        result = case.backend.execute(query(f"SELECT COUNT(*) AS n FROM {case.qualified}"), Limits())
        assert result.rows == ((case.rows,),)
        assert result.columns[0].type == "INT64"

    def test_arrays_are_lists(self, case: Case, query: Query) -> None:
        result = case.backend.execute(query("SELECT SPLIT('a;b', ';') AS parts"), Limits())
        assert result.rows == ((["a", "b"],),)
        assert result.columns[0].type == "ARRAY<STRING>"

    @pytest.mark.parametrize(("asked", "truncated"), [(0, False), (7, True)])
    def test_rows_are_capped(self, case: Case, query: Query, asked: int, truncated: bool) -> None:
        limits = Limits(rows=asked or case.rows)
        result = case.backend.execute(query(f"SELECT {case.key} FROM {case.qualified}"), limits)
        assert len(result.rows) == limits.rows
        assert result.truncated is truncated

    def test_empty_result_keeps_its_columns(self, case: Case, query: Query) -> None:
        result = case.backend.execute(query(f"SELECT {case.number} FROM {case.qualified} WHERE FALSE"), Limits())
        assert result.rows == ()
        assert [column.type for column in result.columns] == ["FLOAT64"]

    def test_dry_run_tells_columns_without_running(self, case: Case, query: Query) -> None:
        dry = case.backend.dry_run(query(f"SELECT {case.key}, COUNT(*) AS n FROM {case.qualified} GROUP BY 1"))
        assert isinstance(dry, DryRun)
        assert [(column.name, column.type) for column in dry.columns] == [(case.key, "STRING"), ("n", "INT64")]
        assert dry.bytes_processed is None or dry.bytes_processed >= 0
        started = time.perf_counter()
        case.backend.dry_run(query(self._endless(case)))
        assert time.perf_counter() - started < 5

    @pytest.mark.parametrize("method", ["dry_run", "execute"])
    def test_a_refused_query_is_an_execution_error(self, case: Case, query: Query, method: str) -> None:
        for sql, word in (
            (f"SELECT no_such_column FROM {case.qualified}", "no_such_column"),
            (f"SELECT 1 AS one FROM {case.qualified[:-1]}_none`", "_none"),
            ("SELECT FROM WHERE", "."),
        ):
            with pytest.raises(ExecutionError, match=word):
                case.backend.dry_run(query(sql)) if method == "dry_run" else case.backend.execute(query(sql), Limits())

    def test_text_is_not_accepted(self, case: Case) -> None:
        with pytest.raises(TypeError):
            case.backend.execute("SELECT 1", Limits())  # type: ignore[arg-type]

    def test_time_limit_stops_a_query(self, case: Case, query: Query) -> None:
        started = time.perf_counter()
        with pytest.raises(QueryTimeoutError, match=r"0\.3 s"):
            case.backend.execute(query(self._endless(case)), Limits(seconds=0.3))
        assert time.perf_counter() - started < 5
        # What was stopped does not hinder what follows.
        assert case.backend.execute(query("SELECT 1 AS one"), Limits()).rows == ((1,),)

    def test_cancel_stops_a_running_query(self, case: Case, query: Query) -> None:
        cancel = threading.Event()
        timer = threading.Timer(0.3, cancel.set)
        timer.start()
        started = time.perf_counter()
        with pytest.raises(QueryCancelledError):
            case.backend.execute(query(self._endless(case)), Limits(seconds=60), cancel=cancel)
        timer.join()
        assert 0.2 < time.perf_counter() - started < 5

    def test_cancel_before_the_start_runs_nothing(self, case: Case, query: Query) -> None:
        cancel = threading.Event()
        cancel.set()
        with pytest.raises(QueryCancelledError):
            case.backend.execute(query("SELECT 1 AS one"), Limits(), cancel=cancel)

    def test_cancel_unset_changes_nothing(self, case: Case, query: Query) -> None:
        result = case.backend.execute(query("SELECT 1 AS one"), Limits(), cancel=threading.Event())
        assert result.rows == ((1,),)

    def test_threads_do_not_mix_results(self, case: Case, query: Query) -> None:
        keys = case.backend.execute(
            query(f"SELECT {case.key} FROM {case.qualified} ORDER BY 1 LIMIT 16"), Limits()
        ).rows

        def one(key: str) -> list[tuple[object, ...]]:
            sql = f"SELECT {case.key} FROM {case.qualified} WHERE {case.key} = '{key}'"
            return [case.backend.execute(query(sql), Limits()).rows for _ in range(5)]

        with ThreadPoolExecutor(16) as pool:
            results = list(pool.map(lambda row: one(row[0]), keys))
        assert results == [[((key,),)] * 5 for (key,) in keys]

    def test_a_stopped_query_leaves_others_alone(self, case: Case, query: Query) -> None:
        with ThreadPoolExecutor(2) as pool:
            slow = pool.submit(case.backend.execute, query(self._endless(case)), Limits(seconds=case.moment))
            quick = [
                case.backend.execute(query(f"SELECT COUNT(*) AS n FROM {case.qualified}"), Limits()) for _ in range(10)
            ]
            with pytest.raises(QueryTimeoutError):
                slow.result()
        assert {result.rows for result in quick} == {((case.rows,),)}

    def test_distinct_values(self, case: Case, query: Query) -> None:
        values = case.backend.distinct_values(case.table, case.text.upper(), limit=100_000)
        sql = f"SELECT COUNT(DISTINCT {case.text}) AS n FROM {case.qualified}"
        assert len(values) == case.backend.execute(query(sql), Limits()).rows[0][0]
        assert all(isinstance(value, str) for value in values)
        assert case.backend.distinct_values(case.table, case.text, limit=2) == values[:2]

    def test_distinct_pairs(self, case: Case) -> None:
        pairs = case.backend.distinct_pairs(case.table, [case.key, case.text], limit=100_000)
        assert len(pairs) == case.rows
        assert pairs == sorted(pairs, key=lambda pair: pair[0] or "")
        assert {text for _, text in pairs} - {None} == set(
            case.backend.distinct_values(case.table, case.text, limit=100_000)
        )

    @pytest.mark.parametrize("what", ["table", "column"])
    def test_unknown_names_are_refused_with_a_suggestion(self, case: Case, what: str) -> None:
        table, column = (case.table + "x", case.key) if what == "table" else (case.table, case.key + "x")
        with pytest.raises(InvalidSqlError) as caught:
            case.backend.distinct_values(table, column, limit=1)
        assert (case.table if what == "table" else case.key) in caught.value.remedy

    def test_names_cannot_carry_sql(self, case: Case) -> None:
        for name in (f"{case.table}; DROP TABLE x", f'{case.table}"', "../x", ""):
            with pytest.raises(InvalidSqlError):
                case.backend.distinct_values(name, case.key, limit=1)
            with pytest.raises(InvalidSqlError):
                case.backend.distinct_values(case.table, f"{case.key} FROM x --" + name, limit=1)

    def test_sources_of_rows(self, case: Case, query: Query) -> None:
        first = case.backend.execute(query(f"SELECT MIN({case.key}) AS k FROM {case.qualified}"), Limits()).rows[0][0]
        found = case.backend.sources_of(case.table, [first, "no such key"])
        assert found == ({first: case.source} if case.source else {})
        assert case.backend.sources_of(case.table, []) == {}
        with pytest.raises(InvalidSqlError):
            case.backend.sources_of("no_such_table", [first])

    def test_fingerprint_is_stable(self, case: Case) -> None:
        assert case.backend.fingerprint() == case.backend.fingerprint() != ""

    def test_close_is_final_and_repeatable(self, case: Case, query: Query) -> None:
        one = query("SELECT 1 AS one")
        case.backend.close()
        case.backend.close()
        with pytest.raises(BackendUnavailableError, match="closed"):
            case.backend.execute(one, Limits())

    def test_numbers_are_those_of_bigquery(self, case: Case, query: Query) -> None:
        result = case.backend.execute(
            query("SELECT 1e-320 AS tiny, 7 / 2 AS ratio, 5e-8 AS p, CAST('inf' AS FLOAT64) AS big"), Limits()
        )
        assert result.rows == ((1e-320, 3.5, 5e-8, math.inf),)

    @staticmethod
    def _endless(case: Case) -> str:
        """A query that works through at least 10^14 combinations of rows."""
        table, number = case.qualified, case.number
        names = "abcdefg"
        joins = " CROSS JOIN ".join(f"{table} AS {name}" for name in names)
        product = " * ".join(f"{name}.{number}" for name in names)
        return f"SELECT SUM(SIN({product})) AS n FROM {joins}"
