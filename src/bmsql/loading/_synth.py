"""Synthetic rows on top of facts, for measuring at the size of real tables.

They are marked as such in each evidence key, in the record of the table and as the source of every row.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql._version import __version__
from bmsql.backends import KEY_SOURCES, ROW_SOURCES, ensure_embedded, quoted
from bmsql.data import facts_checksum, facts_manifest
from bmsql.errors import ConfigurationError
from bmsql.loading import _manifest
from bmsql.loading._duckdb import DuckDBTarget
from bmsql.loading._facts import facts_records
from bmsql.loading._job import Watch, polled
from bmsql.loading._load import MEMORY_MB
from bmsql.loading._report import LoadReport, OnProgress, TableRecord, TableReport, silent
from bmsql.loading._send import send
from bmsql.loading._synth_plan import felt_peak, place_genes, place_peaks, specification, stretches
from bmsql.loading._synth_sql import quantities
from bmsql.loading._target import open_target
from bmsql.semantic import Recipe, SemanticModel, load_semantic_model

if TYPE_CHECKING:
    import duckdb

MOST_ROWS = 500_000_000
_PARTS = 8


def synthesize(
    rows: int,
    to: str,
    *,
    seed: int = 0,
    families: Sequence[str] = (),
    semantic_model: SemanticModel | str | Path | None = None,
    force: bool = False,
    memory_mb: int = MEMORY_MB,
    on_progress: OnProgress = silent,
) -> LoadReport:
    """Make a knowledge base of the embedded facts and `rows` synthetic rows; the same for the same seed.

    rows: spread evenly over the tables of `families`, by default those of association studies. to:
    `duckdb:///path` or `bigquery://project/dataset`; an existing file is replaced only where it holds synthetic
    rows, or with `force`. What fails or is killed leaves what was there whole.

    Raises ConfigurationError for a wrong argument; for the rest see `load`.
    """
    started = time.perf_counter()
    model = semantic_model if isinstance(semantic_model, SemanticModel) else load_semantic_model(semantic_model)
    if not 0 < rows <= MOST_ROWS:
        raise ConfigurationError(f"{rows} synthetic rows cannot be made.", remedy=f"Give 1 to {MOST_ROWS:,}.")
    tables = _tables(model, families)
    target = open_target(to, memory_mb=memory_mb)
    if isinstance(target, DuckDBTarget):
        reports = _made(target, tables, rows, model, seed, force, on_progress)
    else:
        with tempfile.TemporaryDirectory(prefix="bmsql-") as folder:
            local = DuckDBTarget(Path(folder, "synthetic.duckdb"), memory_mb=memory_mb)
            reports = _made(local, tables, rows, model, seed, force, on_progress)
            send(local.path, target, on_progress)
    return LoadReport(target=target.name, tables=reports, seconds=time.perf_counter() - started)


def _made(
    target: DuckDBTarget,
    tables: Sequence[str],
    rows: int,
    model: SemanticModel,
    seed: int,
    force: bool,
    on_progress: OnProgress,
) -> tuple[TableReport, ...]:
    """Make the file, whole or not at all."""
    _check_replaceable(target, force)
    with target.opened(base=ensure_embedded().path):
        for record in facts_records():
            _manifest.write(target.connection, record)
        maker = _Maker(target.connection, model, seed)
        reports = []
        for number, table in enumerate(tables, 1):
            share = rows * number // len(tables) - rows * (number - 1) // len(tables)
            reports.append(maker.make(table, share, Watch(table, number, len(tables), on_progress)))
        target.finish()
    return tuple(reports)


def _tables(model: SemanticModel, families: Sequence[str]) -> list[str]:
    known = [family for family in specification()["families"] if model.tables_of(family)]
    for family in families:
        if family not in known:
            raise ConfigurationError(
                f"There are no synthetic rows for {family!r}.",
                remedy=f"There are for: {', '.join(known)}." if known else "The semantic model has no such tables.",
            )
    if not known:
        raise ConfigurationError(
            "The semantic model has no table that synthetic rows can be made for.",
            remedy=f"They are made for the families {', '.join(specification()['families'])}.",
        )
    held = {table.name for table in facts_manifest().tables}
    tables = [table for family in families or known[:1] for table in model.tables_of(family) if table in held]
    if not tables:
        raise ConfigurationError(
            "The embedded knowledge base has none of the tables.", remedy="Use the semantic model that ships."
        )
    return tables


def _check_replaceable(target: DuckDBTarget, force: bool) -> None:
    if force or not target.path.exists():
        return
    if not any(record.synthetic_rows for record in _manifest.read_records(target.path).values()):
        raise ConfigurationError(
            f"{target.path} exists, and holds no synthetic rows.",
            remedy="Give another place, or --force to replace it.",
        )


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


class _Maker:
    """Adds synthetic rows to tables of facts."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, model: SemanticModel, seed: int) -> None:
        self.connection, self.model, self.seed = connection, model, seed
        self._recipe = self._gene_recipe()
        self._genes = place_genes(self._known_genes(), seed)

    def _gene_recipe(self) -> Recipe | None:
        """How the gene column of the families is written: its separator, and what stands for no gene."""
        roles = {spec.get("gene") for spec in specification()["families"].values()} - {None}
        recipes = (recipe for entity in self.model.entities.values() for recipe in entity.match.values())
        return next((recipe for recipe in recipes if roles & set(recipe.roles)), None)

    def _known_genes(self) -> tuple[tuple[str, int, int], ...]:
        """Symbol, chromosome and position of the genes that the facts name alone at a position."""
        found: dict[str, tuple[int, int]] = {}
        separator = self._recipe.separator if self._recipe else ";"
        for family, spec in specification()["families"].items():
            for table in self.model.tables_of(family) if "gene" in spec else ():
                names = [self.model.column(table, spec[part]) for part in ("gene", "chromosome", "position")]
                if None in names or not self._holds(table):
                    continue
                gene, chromosome, position = (quoted(str(name)) for name in names)
                sql = (
                    f"SELECT {gene}, mode({chromosome}), CAST(median({position}) AS BIGINT) FROM {quoted(table)} "  # noqa: S608
                    f"WHERE {position} > 0 AND NOT contains({gene}, ?) GROUP BY 1 ORDER BY 1"
                )
                for symbol, where, middle in self.connection.execute(sql, [separator]).fetchall():
                    found.setdefault(symbol, (int(where), int(middle)))
        return tuple((symbol, *place) for symbol, place in found.items())

    def _holds(self, table: str) -> bool:
        return any(each.name == table for each in facts_manifest().tables)

    def make(self, table: str, rows: int, watch: Watch) -> TableReport:
        """Add `rows` rows to a table, chromosome by chromosome, in the order of positions."""
        started = time.perf_counter()
        self._plan(table, rows)
        spec = specification()
        prefix = f"{spec['prefix']}_{table}_"
        columns = self.model.tables[table].columns
        held = spec["families"][self.model.tables[table].family]["columns"]
        filled = {name: held[column.role] for name, column in columns.items() if column.role in held}
        missing = {
            quantity: repr(role.missing[0])
            for name, quantity in filled.items()
            if (role := self.model.role(columns[name].role)) is not None and role.missing
        }
        names = ", ".join(quoted(name) for name in filled)
        # Parts in the order of positions, which DuckDB computes side by side and stores in that order.
        parts = " UNION ALL ".join(
            f"SELECT {', '.join(filled.values())} FROM ({quantities(table, prefix, self.seed, part, missing)})"  # noqa: S608
            for part in range(_PARTS)
        )
        self.connection.execute("BEGIN TRANSACTION")
        try:
            with polled(self.connection, watch):
                self.connection.execute(f"INSERT INTO {quoted(table)} ({names}) {parts}")
            total = self._finish(table, prefix, rows)
            self.connection.execute("COMMIT")
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        watch.say("done", 1)
        return TableReport(
            table=table,
            action="synthesised",
            rows=total.rows,
            columns=len(columns),
            checksum=total.checksum,
            seconds=time.perf_counter() - started,
            notes=(f"{rows:,} of the rows are synthetic.",),
        )

    def _plan(self, table: str, rows: int) -> None:
        """The temporary table `stretches` for one table."""
        import pyarrow as pa

        recipe = self._recipe
        peaks = place_peaks(table, self.seed)
        planned: list[dict[str, Any]] = []
        separator, none = (recipe.separator, recipe.none) if recipe else (";", "")
        for stretch in stretches(self._genes, rows, separator=separator, none=none):
            peak = felt_peak(peaks[stretch.chromosome], stretch)
            planned.append(
                {
                    "part": stretch.first * _PARTS // rows,
                    "chromosome": stretch.chromosome,
                    "start_bp": stretch.start,
                    "end_bp": stretch.end,
                    "first": stretch.first,
                    "last": stretch.last,
                    "genes": stretch.genes,
                    "shift": stretch.shift,
                    "peak_position": peak.position if peak else None,
                    "peak_z": peak.z if peak else None,
                    "peak_width": peak.width if peak else None,
                }
            )
        self.connection.register("planned", pa.Table.from_pylist(planned))
        self.connection.execute("CREATE OR REPLACE TEMP TABLE stretches AS SELECT * FROM planned")
        self.connection.unregister("planned")

    def _finish(self, table: str, prefix: str, rows: int) -> TableRecord:
        """Store the source and the record of the new rows."""
        import duckdb

        for name, column in ((ROW_SOURCES, "key"), (KEY_SOURCES, "prefix")):
            self.connection.execute(
                f"CREATE TABLE IF NOT EXISTS {name} (table_name VARCHAR, {column} VARCHAR, source VARCHAR)"
            )
        source = specification()["source"].format(seed=self.seed)
        self.connection.execute(f"INSERT INTO {KEY_SOURCES} VALUES (?, ?, ?)", [table, prefix, source])  # noqa: S608
        facts = next(each for each in facts_manifest().tables if each.name == table)
        counted = self.connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()  # noqa: S608
        if counted != (facts.rows + rows,):
            raise RuntimeError(f"{counted} rows of {table} instead of {facts.rows + rows}")
        made = (facts_checksum(), table, rows, self.seed, duckdb.__version__, __version__)
        record = TableRecord(
            table=table,
            rows=facts.rows + rows,
            synthetic_rows=rows,
            files=next(each.files for each in facts_records() if each.table == table),
            checksum=hashlib.sha256(_manifest.dumped(made).encode()).hexdigest(),
            origin=f"embedded, and {source}",
            loaded_at=_now(),
            bmsql=__version__,
            model=self.model.name,
        )
        _manifest.write(self.connection, record)
        return record
