"""Loading into a BigQuery emulator that runs beside the tests, where one can be installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bmsql.loading import describe, load

emulator = pytest.importorskip("tests.servers.emulator", reason="no emulator comes with these tests")
MODEL = Path(__file__).parent / "model.yaml"


@pytest.mark.all
def test_tables_arrive_in_an_emulator(tmp_path: Path) -> None:
    (tmp_path / "Hits.csv").write_text("id,name,position,p,good,_source\nh1,APOE,1,0.5,true,A\nh2,MAPT,2,,,B\n")
    (tmp_path / "data").mkdir()
    try:
        with emulator.running(tmp_path / "data") as started:
            if started.note:
                pytest.skip(f"it cannot load parquet: {started.note}")
            to = f"bigquery://{emulator.PROJECT}/loaded?endpoint={started.url}"
            report = load(tmp_path / "Hits.csv", to, semantic_model=MODEL, source="the lab")
            assert [(t.table, t.action, t.rows) for t in report.tables] == [("Hits", "loaded", 2)]
            (record,) = describe(to).records
            assert (record.table, record.rows, record.model) == ("Hits", 2, "lab")
            again = load(tmp_path / "Hits.csv", to, semantic_model=MODEL, source="the lab")
            assert [t.action for t in again.tables] == ["unchanged"]
    except emulator.CannotInstall as reason:
        pytest.skip(str(reason))
