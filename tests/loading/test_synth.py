"""Synthetic rows: the same for the same seed, marked as such, and distributed like those of a real study."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

from bmsql import Agent
from bmsql.backends import DuckDBBackend, open_embedded
from bmsql.data import facts_manifest
from bmsql.errors import ConfigurationError
from bmsql.loading import LoadProgress, describe, synthesize
from bmsql.loading._synth_plan import Gene, Peak, Stretch, felt_peak, place_genes, specification, stretches
from bmsql.loading._synth_sql import ERFC, _erfc
from bmsql.semantic import load_semantic_model

# Tens of thousands of rows are made.
pytestmark = pytest.mark.all

ROWS = 60_000
MODEL = load_semantic_model()
FAMILY = next(iter(specification()["families"]))
COLUMN_OF = {quantity: role for role, quantity in specification()["families"][FAMILY]["columns"].items()}
TABLES = MODEL.tables_of(FAMILY)
SOURCE = "synthetic rows (bmsql kb synth, seed 7): no data"


def column(quantity: str, table: str = TABLES[0]) -> str:
    """The column that holds a quantity."""
    found = MODEL.column(table, COLUMN_OF[quantity])
    assert found is not None
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("synth") / "made.duckdb"
    seen: list[LoadProgress] = []
    report = synthesize(ROWS, f"duckdb://{path}", seed=7, on_progress=seen.append)
    assert [t.table for t in report.tables] == list(TABLES)
    assert all(t.action == "synthesised" and "30,000 of the rows" in t.notes[0] for t in report.tables)
    assert seen[-1].step == "done"
    return path


@pytest.fixture
def rows(made: Path) -> Iterator[Any]:
    """A function that returns quantities of the synthetic rows of the first table, in stored order."""
    with duckdb.connect(str(made), read_only=True) as connection:

        def read(*quantities: str, table: str = TABLES[0]) -> list[tuple[Any, ...]]:
            names = ", ".join(f'"{column(quantity, table)}"' for quantity in quantities)
            key = column("key", table)
            sql = f'SELECT {names} FROM "{table}" WHERE starts_with("{key}", \'synthetic_\') ORDER BY rowid'
            return connection.execute(sql).fetchall()

        yield read


def test_they_stand_beside_the_facts_and_are_marked(made: Path) -> None:
    facts = {table.name: table.rows for table in facts_manifest().tables}
    expected = {name: rows + (ROWS // 2 if name in TABLES else 0) for name, rows in facts.items()}
    with DuckDBBackend(made) as backend, open_embedded() as embedded:
        assert {table.name: table.rows for table in backend.catalog().tables} == expected
        names = [[(c.name, c.type) for c in table.columns] for table in backend.catalog().tables]
        assert names == [[(c.name, c.type) for c in table.columns] for table in embedded.catalog().tables]
        key = f"synthetic_{TABLES[0]}_1"
        assert backend.sources_of(TABLES[0], [key, "no key"]) == {key: SOURCE}
        assert backend.sources_of(TABLES[1], [key]) == {}
    contents = describe(f"duckdb://{made}")
    assert contents.synthetic_rows == ROWS
    assert {
        record.table: record.synthetic_rows for record in contents.records if record.synthetic_rows
    } == dict.fromkeys(TABLES, ROWS // 2)
    assert next(iter(contents.sources.items())) == (SOURCE, ROWS)
    assert sum(contents.sources.values()) == sum(expected.values())


@pytest.mark.all
def test_answers_say_that_they_rest_on_synthetic_rows(tmp_path: Path) -> None:
    synthesize(400, f"duckdb://{tmp_path / 'few.duckdb'}", seed=7)
    with Agent(backend=f"duckdb://{tmp_path / 'few.duckdb'}") as agent:
        answer = agent.ask("What is the p-value of rs9000000123 in the Alzheimer's disease GWAS?")
        assert answer.evidence == (f"synthetic_{TABLES[0]}_124",)
        assert answer.sources == (SOURCE,)
        # The facts answer as before.
        known = agent.ask("What is the p-value of rs429358 in the Alzheimer's disease GWAS?")
        assert known.sources
        assert SOURCE not in known.sources


@pytest.mark.all
def test_the_same_seed_makes_the_same_rows(tmp_path: Path) -> None:
    def content(path: Path) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(path), read_only=True) as connection:
            return connection.execute(f'SELECT * FROM "{TABLES[1]}" ORDER BY rowid').fetchall()

    one, again, other = (tmp_path / f"{name}.duckdb" for name in ("one", "again", "other"))
    synthesize(1_000, f"duckdb://{one}", seed=7)
    first = synthesize(1_000, f"duckdb://{again}", seed=7, memory_mb=512)
    assert content(again) == content(one)
    synthesize(1_000, f"duckdb://{other}", seed=8)
    assert len(content(other)) == len(content(one))
    assert content(other) != content(one)
    assert {record.checksum for record in describe(f"duckdb://{again}").records} >= {t.checksum for t in first.tables}


def test_effects_errors_and_p_values_agree(rows: Any) -> None:
    for effect, error, p in rows("effect", "standard_error", "p_value")[::10]:
        assert error > 0
        assert p == pytest.approx(math.erfc(abs(effect / error) / math.sqrt(2)), rel=1e-6)


def test_p_values_are_mostly_null_with_peaks_and_a_tail(rows: Any) -> None:
    found = [p for (p,) in rows("p_value")]
    assert all(0 <= p <= 1 for p in found)
    shares = [sum(low <= p < low + 0.1 for p in found) / len(found) for low in (0.2, 0.4, 0.6, 0.8)]
    assert all(0.085 < share < 0.105 for share in shares), shares
    # Genomic inflation, and the share below 5 % and below genome-wide significance.
    chi = statistics.median((effect / error) ** 2 for effect, error in rows("effect", "standard_error"))
    assert 1.02 < chi / 0.4549 < 1.25
    assert 0.05 < sum(p < 0.05 for p in found) / len(found) < 0.09
    significant = [(c, b // 500_000) for c, b, p in rows("chromosome_37", "position_37", "p_value") if p < 5e-8]
    assert 0 < len(significant) < 0.002 * len(found)


def test_frequencies_are_mostly_low(rows: Any) -> None:
    found = [frequency for (frequency,) in rows("frequency")]
    assert all(0 < frequency < 1 for frequency in found)
    minor = [min(frequency, 1 - frequency) for frequency in found]
    assert 0.55 < sum(f < 0.05 for f in minor) / len(minor) < 0.7
    assert 0.45 < sum(f < 0.5 for f in found) / len(found) < 0.55


def test_positions_follow_the_chromosomes(rows: Any) -> None:
    lengths = specification()["chromosomes"]
    total = sum(length for length, _ in lengths.values())
    placed = [(c, b) for c, b in rows("chromosome_38", "position_38") if c]
    assert placed == sorted(placed)
    assert all(0 < position <= lengths[chromosome][0] for chromosome, position in placed)
    for chromosome, (length, _) in lengths.items():
        assert sum(c == chromosome for c, _ in placed) / len(placed) == pytest.approx(length / total, abs=0.002)
    failed = [(c, b) for c, b in rows("chromosome_38", "position_38") if not (c and b)]
    assert set(failed) == {(0, 0)}
    assert 0 < len(failed) / ROWS * 2 < 0.005


def test_variants_are_the_same_in_every_table(rows: Any) -> None:
    same = ("rsid", "effect_allele", "other_allele", "frequency", "chromosome_38", "position_38", "genes")
    first, second = (rows(*same, table=table) for table in TABLES[:2])
    assert first == second
    assert len({rsid for rsid, *_ in first}) == ROWS // 2
    assert all(one != other for _, one, other, *_ in first)
    assert rows("p_value") != rows("p_value", table=TABLES[1])


def test_genes_lie_where_the_facts_have_them(rows: Any) -> None:
    found: dict[str, list[tuple[int, int]]] = {}
    for chromosome, position, genes in rows("chromosome_38", "position_38", "genes"):
        for gene in genes.split(";"):
            if chromosome:
                found.setdefault(gene, []).append((chromosome, position))
    with open_embedded() as backend:
        pairs = backend.distinct_pairs(
            TABLES[0], [column(q) for q in ("genes", "chromosome_38", "position_38")], limit=9999
        )
    facts = {gene: (int(c or 0), int(b or 0)) for gene, c, b in pairs if gene and ";" not in gene and b != "0"}
    both = facts.keys() & found
    assert len(both) > 20
    for gene in both:
        assert {c for c, _ in found[gene]} == {facts[gene][0]}
        assert min(abs(b - facts[gene][1]) for _, b in found[gene]) < 2_000_000
    assert len(found) > 5_000
    spread = [max(b for _, b in places) - min(b for _, b in places) for gene, places in found.items() if gene != "NONE"]
    assert statistics.median(spread) < 1_000_000


def test_the_error_function() -> None:
    assert len(ERFC) == 10
    with duckdb.connect() as connection:
        for x in (0.0, 1e-9, 0.01, 0.3, 1.0, 2.5, 4.0, 8.0, 15.0, 26.0):
            ((value,),) = connection.execute(f"SELECT {_erfc(f'{x!r}::DOUBLE')}").fetchall()
            assert value == pytest.approx(math.erfc(x), rel=1e-6)


def test_stretches_share_out_all_variants() -> None:
    genes = place_genes((("SNCA", 4, 89_720_000), ("BELOW", 30, 1)), seed=1)
    assert not [gene for gene in genes if gene.symbol == "BELOW"]  # a chromosome that is not described
    for variants in (1, 999, 5_000_000):
        cut = list(stretches(genes, variants, separator=";", none="NONE"))
        assert sum(each.last - each.first for each in cut) == variants
        assert all(one.last == other.first for one, other in pairwise(cut))
    assert any(each.genes.startswith("NONE;") for each in cut)
    here = [each for each in cut if each.genes == "SNCA"]
    assert [each.chromosome for each in here] == [4]
    assert next(stretches([Gene("A", 1, 5, 5)], 1000, separator="|", none="")).genes == "A|"


def test_the_peak_that_is_felt_most() -> None:
    near, far = Peak(1_000, -6.0, 1_000.0), Peak(90_000, 30.0, 2_000.0)
    stretch = Stretch(1, 2_000, 3_000, 0, 1, "A", 0)
    assert felt_peak([near, far], stretch) == near
    assert felt_peak([far], stretch) is None
    assert felt_peak([], stretch) is None


def test_what_cannot_be_made_says_why(tmp_path: Path) -> None:
    to = f"duckdb://{tmp_path / 'kb.duckdb'}"
    for wrong, message in [
        ({"rows": 0}, "0 synthetic rows cannot be made"),
        ({"rows": 10**12}, "cannot be made"),
        ({"rows": 1, "families": ["drug"]}, "no synthetic rows for 'drug'"),
        ({"rows": 1, "semantic_model": Path(__file__).parent / "model.yaml"}, "no table that synthetic rows"),
    ]:
        with pytest.raises(ConfigurationError, match=message) as caught:
            synthesize(**{"to": to, **wrong})  # type: ignore[arg-type]
        assert caught.value.remedy
    with duckdb.connect(str(tmp_path / "kb.duckdb")) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS x")
    with pytest.raises(ConfigurationError, match="holds no synthetic rows"):
        synthesize(10, to)
    synthesize(10, to, force=True)
    report = synthesize(20, to, families=["frequency"])
    assert [t.rows for t in report.tables] == [
        table.rows + 20 for table in facts_manifest().tables if table.name in MODEL.tables_of("frequency")
    ]
