"""Files become tables: what is accepted, what is refused, and that a load is whole or not at all."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bmsql.backends import DuckDBBackend
from bmsql.errors import BackendUnavailableError, BmsqlError, ConfigurationError, KnowledgeBaseError
from bmsql.loading import LoadProgress, load, read_records
from tests.yaml_files import read_yaml

HERE = Path(__file__).parent
MODEL = HERE / "model.yaml"
CASES = read_yaml(HERE / "cases.yaml")
GOOD = "id,name,position,p,good\nh1,APOE,1,0.5,true\nh2,MAPT,2,0.25,false\n"


def write(folder: Path, case: dict[str, Any]) -> Path:
    """The file of a case."""
    folder.mkdir(exist_ok=True)
    if "parquet" in case:
        path = folder / "Hits.parquet"
        arrays = {name: pa.array(cells, pa.type_for_alias(kind)) for name, (kind, cells) in case["parquet"].items()}
        pq.write_table(pa.table(arrays), path)
        return path
    path = folder / case.get("file", "Hits.csv")
    text = case["text"].encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "kb.duckdb"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_files_of_a_known_table(case: dict[str, Any], tmp_path: Path, target: Path) -> None:
    path = write(tmp_path / "in", case)

    def run() -> Any:
        return load(path, f"duckdb://{target}", semantic_model=MODEL, nulls=("", *case.get("nulls", ())))

    if "error" in case:
        with pytest.raises(KnowledgeBaseError, match=case["error"]) as caught:
            run()
        assert str(path) in caught.value.message
        assert caught.value.remedy
        assert not target.exists()
        return
    report = run()
    assert [(t.table, t.action, t.rows, t.columns) for t in report.tables] == [("Hits", "loaded", len(case["rows"]), 5)]
    assert rows(target, 'SELECT * FROM "Hits"') == [tuple(row) for row in case["rows"]]
    assert [name for name, *_ in rows(target, 'DESCRIBE "Hits"')] == ["id", "name", "position", "p", "good"]
    record = read_records(target)["Hits"]
    assert (record.rows, record.model, record.files[0].name) == (len(case["rows"]), "lab", path.name)
    assert record.files[0].bytes == path.stat().st_size


def test_a_table_that_the_model_does_not_know_is_loaded_as_it_is(tmp_path: Path, target: Path) -> None:
    (tmp_path / "Other.csv").write_text("a,b,c\n1,x,2024-01-02\n2,,\n")
    pq.write_table(pa.table({"l": [[1, 2]], "s": [{"x": 1.5}]}), tmp_path / "Nested.parquet")
    report = load(tmp_path, f"duckdb://{target}", semantic_model=MODEL)
    assert [t.table for t in report.tables] == ["Nested", "Other"]
    assert all("knows no such table" in t.notes[0] for t in report.tables)
    with DuckDBBackend(target) as backend:
        assert {t.name: [c.type for c in t.columns] for t in backend.catalog().tables} == {
            "Nested": ["ARRAY<INT64>", "STRUCT<x FLOAT64>"],
            "Other": ["INT64", "STRING", "DATE"],
        }


def test_unchecked_a_known_table_is_loaded_as_it_is_too(tmp_path: Path, target: Path) -> None:
    (tmp_path / "Hits.csv").write_text("id,anything\nh1,2\n")
    load(tmp_path, f"duckdb://{target}", semantic_model=MODEL, check=False)
    assert rows(target, "SELECT * FROM Hits") == [("h1", 2)]
    assert read_records(target)["Hits"].model == ""


def test_parts_make_one_table(tmp_path: Path, target: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "Split-00000-of-00002.parquet")
    pq.write_table(pa.table({"x": [3]}), tmp_path / "Split-00001-of-00002.parquet")
    (tmp_path / "Folder").mkdir()
    pq.write_table(pa.table({"y": [1]}), tmp_path / "Folder" / "part-0.parquet")
    pq.write_table(pa.table({"y": [2]}), tmp_path / "Folder" / "part-1.parquet")
    # Characters that a pattern of names would take for more than themselves.
    (tmp_path / "odd [x]*").mkdir()
    pq.write_table(pa.table({"z": [1]}), tmp_path / "odd [x]*" / "Odd.parquet")
    load([tmp_path, tmp_path / "odd [x]*"], f"duckdb://{target}", semantic_model=MODEL)
    assert rows(target, "SELECT (SELECT sum(x) FROM Split), (SELECT sum(y) FROM Folder), (SELECT z FROM Odd)") == [
        (6, 3, 1)
    ]
    assert [file.rows for file in read_records(target)["Split"].files] == [2, 1]


def test_other_tables_are_kept_and_the_same_content_is_not_loaded_twice(tmp_path: Path, target: Path) -> None:
    with duckdb.connect(str(target)) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS x; CREATE VIEW hits AS SELECT 2 AS y")
    path = write(tmp_path / "in", {"text": GOOD})
    to = f"duckdb://{target}"
    assert load(path, to, semantic_model=MODEL).tables[0].action == "loaded"
    before = target.stat()
    assert load(path, to, semantic_model=MODEL).tables[0].action == "unchanged"
    assert (target.stat().st_ino, target.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert load(path, to, semantic_model=MODEL, force=True).tables[0].action == "loaded"
    path.write_text(GOOD + "h3,SNCA,3,0.1,true\n")
    assert load(path, to, semantic_model=MODEL).tables[0].action == "loaded"
    assert rows(target, "SELECT count(*), (SELECT x FROM mine) FROM Hits") == [(3, 1)]
    # Somebody else has changed the table since: the record alone does not count.
    with duckdb.connect(str(target)) as connection:
        connection.execute("DELETE FROM Hits WHERE id = 'h3'")
    assert load(path, to, semantic_model=MODEL).tables[0].action == "loaded"
    assert rows(target, "SELECT count(*) FROM Hits") == [(3,)]


def test_a_failed_load_leaves_the_old_knowledge_base_whole(tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "in"
    load(write(folder, {"text": GOOD}), f"duckdb://{target}", semantic_model=MODEL)
    before = target.read_bytes()
    (folder / "Aaa.csv").write_text("x\n1\n")
    write(folder, {"text": GOOD + "h3,x,no number,1,true\n"})
    with pytest.raises(KnowledgeBaseError, match="'no number'"):
        load(folder, f"duckdb://{target}", semantic_model=MODEL)
    assert target.read_bytes() == before
    # What was loaded before the failure is gone on from.
    write(folder, {"text": GOOD + "h3,x,3,1,true\n"})
    report = load(folder, f"duckdb://{target}", semantic_model=MODEL)
    assert {t.table: t.action for t in report.tables} == {"Aaa": "resumed", "Hits": "loaded"}
    assert rows(target, "SELECT count(*), (SELECT x FROM Aaa) FROM Hits") == [(3, 1)]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "kb.duckdb", "kb.duckdb.lock"]


KILLED = """
import os, signal, sys
from bmsql.loading import load
def on_progress(step):
    if (step.table, step.step) == ("B", "load"):
        os.kill(os.getpid(), signal.SIGKILL)
load(sys.argv[1], sys.argv[2], on_progress=on_progress)
"""


def test_a_killed_load_goes_on_where_it_was(tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "ABC":
        (folder / f"{name}.csv").write_text(f"x\n{name}1\n{name}2\n")
    with duckdb.connect(str(target)) as connection:
        connection.execute("CREATE TABLE A AS SELECT 'old' AS x")
    before = target.read_bytes()
    run = [sys.executable, "-c", KILLED, str(folder), f"duckdb://{target}"]
    assert subprocess.run(run, timeout=60, env={**os.environ}).returncode == -signal.SIGKILL
    assert target.read_bytes() == before
    seen: list[LoadProgress] = []
    report = load(folder, f"duckdb://{target}", on_progress=seen.append)
    assert {t.table: t.action for t in report.tables} == {"A": "resumed", "B": "loaded", "C": "loaded"}
    assert rows(target, "SELECT x FROM A UNION ALL SELECT x FROM B ORDER BY x") == [("A1",), ("A2",), ("B1",), ("B2",)]
    assert {step.table for step in seen if step.step == "load"} == {"B", "C"}
    assert all(step.tables == 3 and 0 <= step.fraction <= 1 for step in seen)


def test_what_was_begun_is_thrown_away_when_the_target_has_changed_since(tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "A.csv").write_text("x\n1\n")
    (folder / "B.csv").write_bytes(b"x\n\xff\xfe\n")
    with pytest.raises(KnowledgeBaseError, match=r"B\.csv"):
        load(folder, f"duckdb://{target}")
    with duckdb.connect(str(target)) as connection:
        connection.execute("CREATE TABLE newer AS SELECT 1 AS x")
    (folder / "B.csv").write_text("x\n2\n")
    report = load(folder, f"duckdb://{target}")
    assert {t.table: t.action for t in report.tables} == {"A": "loaded", "B": "loaded"}
    assert rows(target, "SELECT x FROM newer") == [(1,)]


def test_what_was_begun_of_other_tables_is_not_published(tmp_path: Path, target: Path) -> None:
    for name, text in {"A": b"x\n1\n", "B": b"x\n\xff\xfe\n", "C": b"x\n3\n"}.items():
        (tmp_path / f"{name}.csv").write_bytes(text)
    with pytest.raises(KnowledgeBaseError, match=r"B\.csv"):
        load([tmp_path / "A.csv", tmp_path / "B.csv"], f"duckdb://{target}")
    assert target.with_name("kb.duckdb.partial").exists()
    load(tmp_path / "C.csv", f"duckdb://{target}")
    assert list(read_records(target)) == ["C"]
    assert rows(target, "SELECT table_name FROM duckdb_tables() WHERE table_name IN ('A', 'B', 'C')") == [("C",)]


def test_a_wrong_row_count_is_an_error(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bmsql.loading import _files

    monkeypatch.setattr(_files, "_count_records", lambda path, separator: 3)
    with pytest.raises(KnowledgeBaseError, match="3 rows were counted in the files of Hits, but 2 were loaded"):
        load(write(tmp_path / "in", {"text": GOOD}), f"duckdb://{target}", semantic_model=MODEL)
    assert not target.exists()


def test_sources_of_rows(tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "in"
    header, *lines = GOOD.splitlines()
    write(folder, {"text": "\n".join([f"{header},_source", f"{lines[0]},study A", f"{lines[1]},study B"])})
    load(folder, f"duckdb://{target}", semantic_model=MODEL, source="the lab")
    with DuckDBBackend(target) as backend:
        assert backend.sources_of("Hits", ["h1", "h2", "h9"]) == {"h1": "study A", "h2": "study B", "h9": "the lab"}
        assert [c.name for c in backend.catalog().by_name["Hits"].columns][-1] == "good"
        assert [t.name for t in backend.catalog().tables] == ["Hits"]
    write(folder, {"text": GOOD})
    (folder / "_row_sources.csv").write_text("table,key,source\nhits,h2,study C\nOther,h1,study D\n")
    load(folder, f"duckdb://{target}", semantic_model=MODEL)
    with DuckDBBackend(target) as backend:
        assert backend.sources_of("Hits", ["h1", "h2"]) == {"h2": "study C"}


@pytest.mark.parametrize(
    ("paths", "to", "message"),
    [
        (["nothing"], "duckdb://kb.duckdb", "There is no file or folder"),
        (["."], "duckdb://kb.duckdb", "There is no table in"),
        (["x.txt"], "duckdb://kb.duckdb", "is no file of a table"),
        (["A.csv", "A.tsv"], "duckdb://kb.duckdb", "is in both"),
        (["a.b.csv"], "duckdb://kb.duckdb", "cannot be the name of a table"),
        (["A.csv"], "embedded", "cannot be written to"),
        (["A.csv"], "sqlite:///x", "names no place"),
        (["A.csv"], "duckdb://", "names no place"),
        (["A.csv"], "duckdb://none/kb.duckdb", "directory that does not exist"),
        (["A.csv"], "duckdb://folder", "is a directory"),
        (["A.csv"], "duckdb://x.txt", "cannot be opened"),
    ],
)
def test_what_cannot_be_loaded_says_why(
    paths: list[str], to: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    (work / "folder").mkdir(parents=True)
    monkeypatch.chdir(work)
    for name in paths:
        if "." in name[1:]:
            Path(name).write_text("x\n1\n")
    Path("x.txt").write_text("no database " * 2000)
    if paths == ["."]:
        Path("x.txt").unlink()
    with pytest.raises(BmsqlError, match=message) as caught:
        load(paths, to)
    assert isinstance(caught.value, ConfigurationError | BackendUnavailableError)
    assert caught.value.remedy


def test_only_the_tables_that_were_asked_for(tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "AB":
        (folder / f"{name}.csv").write_text("x\n1\n")
    assert [t.table for t in load(folder, f"duckdb://{target}", only=["b"]).tables] == ["B"]
    with pytest.raises(ConfigurationError, match="no file of a table 'C'") as caught:
        load(folder, f"duckdb://{target}", only=["C"])
    assert "A, B" in caught.value.remedy


def test_three_slashes_name_a_file_here_when_nothing_else_can_be_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("A.csv").write_text("x\n1\n")
    report = load("A.csv", "duckdb:///kb.duckdb")
    assert (tmp_path / "kb.duckdb").exists()
    assert report.target == f"duckdb:///{(tmp_path / 'kb.duckdb').as_posix().lstrip('/')}"


def test_two_loads_at_once(tmp_path: Path, target: Path) -> None:
    from bmsql.backends import file_lock

    (tmp_path / "A.csv").write_text("x\n1\n")
    lock = target.with_name("kb.duckdb.lock")
    code = f"from bmsql.loading import load; load({str(tmp_path / 'A.csv')!r}, 'duckdb://{target}')"
    with file_lock(lock, seconds=1):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "Another process is loading" in done.stderr


def test_real_tables(target: Path) -> None:
    folder = os.environ.get("BMSQL_TEST_KB")
    if not folder:
        pytest.skip("BMSQL_TEST_KB names no folder of parquet tables")
    report = load(folder, f"duckdb://{target}")
    assert all(not t.notes for t in report.tables)
    with DuckDBBackend(target) as backend:
        counted = {t.name: t.rows for t in backend.catalog().tables}
    assert counted == {t.table: pq.read_metadata(Path(folder, f"{t.table}.parquet")).num_rows for t in report.tables}
