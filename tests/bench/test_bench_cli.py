"""`bmsql bench` as a user runs it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import duckdb
import pytest

from bmsql.bench import RunFolder
from bmsql.bench._extended import extended_options
from bmsql.bench.systems import OurSystem, SystemOptions
from bmsql.cli._main import run
from bmsql.errors import BenchmarkFileError, ConfigurationError


def test_run_score_and_report(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, out = tmp_path / "one", tmp_path / "two", tmp_path / "report"
    common = ["--questions", str(file), "--concurrency", "2"]
    assert run(["bench", "run", *common, "--out", str(first), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["asked"], document["left"], document["stopped"]) == (5, 0, "done")
    assert document["runs"][0]["outcomes"]["right"] >= 4
    # Given again, it is done already.
    assert run(["bench", "run", *common, "--out", str(first), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["asked"] == 0
    assert run(["bench", "run", *common, "--out", str(second), "--without", "conventions"]) == 0
    assert "ours, no conventions" in capsys.readouterr().out
    assert run(["bench", "score", str(first), str(second), "--processes", "1"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[-2:]] == ["one", "two"]
    assert run(["bench", "report", str(first), str(second), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"Wrote {out / 'report.md'} and {out / 'report.html'}.\n"
    assert "## Ablation" in (out / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "--out", "x"], 2, "Missing option '--questions'"),
        (["run", "--questions", "{file}", "--out", "{new}", "--system", "theirs"], 2, "there is no system 'theirs'"),
        (["run", "--questions", "{file}", "--out", "{new}", "--option", "shots"], 2, "write NAME=VALUE"),
        (["run", "--questions", "{new}", "--out", "{new}/run"], 2, "cannot be read"),
        (["run", "--questions", "{file}", "--out", "{file}"], 2, "cannot be written"),
        (["run", "--questions", "{file}", "--out", "{new}", "--prices", "{file}"], 2, "input should be a valid"),
        (["score", "{new}"], 2, "no folder of a run"),
        (["report", "{new}"], 2, "no folder of a run"),
    ],
)
def test_mistakes_are_said_in_one_sentence(
    arguments: list[str],
    code: int,
    message: str,
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = {"file": str(file), "new": str(tmp_path / "new")}
    assert run(["bench", *(argument.format(**places) for argument in arguments)]) == code
    said = capsys.readouterr().err
    assert message in said
    assert "Unexpected" not in said


def parquet(folder: Path, name: str, select: str) -> None:
    folder.mkdir(exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({select}) TO '{folder / name}.parquet' (FORMAT parquet)")


@pytest.mark.all
def test_tables_are_added(ours: OurSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BMSQL_CACHE_DIR", str(tmp_path / "cache"))
    extra = tmp_path / "extra"
    parquet(extra, "Some_TWAS", "SELECT 'u' || i AS UUID, 'GENE' || i AS gene, i / 100 AS p FROM range(9) AS t(i)")
    parquet(extra, "_notes", "SELECT 1 AS ignored")
    base = ours.dependencies
    options = extended_options(SystemOptions(backend=base.backend), [extra])
    system = OurSystem(options)
    try:
        deps = system.dependencies
        known = {table.name for table in base.backend.catalog().tables}
        assert {table.name for table in deps.backend.catalog().tables} == {*known, "Some_TWAS"}
        assert deps.backend.catalog().dataset == base.backend.catalog().dataset
        assert set(deps.model.tables) == {*base.model.tables, "Some_TWAS"}
        # What is a gene elsewhere is one in the new table too.
        assert len(deps.model.entities["gene"].match) == len(base.model.entities["gene"].match) + 1
        assert deps.backend.fingerprint() != base.backend.fingerprint()
        again = extended_options(SystemOptions(backend=base.backend), [extra]).backend
        assert again.fingerprint() == deps.backend.fingerprint()
        again.close()
        asked = "Which SNPs near BIN1 are significantly associated with Alzheimer's disease?"
        assert system.ask(asked).evidence == ours.ask(asked).evidence
    finally:
        options.backend.close()


def test_folders_without_tables_and_other_backends(ours: OurSystem, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFileError, match="no parquet files"):
        extended_options(SystemOptions(), [tmp_path])

    class Other:
        def __getattr__(self, name: str) -> object:
            return getattr(ours.dependencies.backend, name)

    parquet(tmp_path / "extra", "T", "SELECT 1 AS a")
    with pytest.raises(ConfigurationError, match="tables cannot be added to embedded"):
        extended_options(SystemOptions(backend=Other()), [tmp_path / "extra"])


@pytest.mark.all
def test_the_twenty_table_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same questions over the tables in `BMSQL_TEST_KB`, then with those in `BMSQL_TEST_EXTRA_KB` added."""
    folders = [os.environ.get(name, "") for name in ("BMSQL_TEST_KB", "BMSQL_TEST_EXTRA_KB")]
    if not all(folders):
        pytest.skip("set BMSQL_TEST_KB and BMSQL_TEST_EXTRA_KB to folders of parquet files")
    questions = Path(__file__).resolve().parents[1] / "data" / "questions_dev.yaml"
    few, more, out = tmp_path / "few", tmp_path / "more", tmp_path / "report"
    common = ["bench", "run", "--questions", str(questions), "--skip-failing-gold"]
    assert run([*common, "--out", str(few), "--extra-kb", folders[0]]) == 0
    assert run([*common, "--out", str(more), "--extra-kb", folders[0], "--extra-kb", folders[1]]) == 0
    assert run(["bench", "report", str(few), str(more), "--out", str(out)]) == 0
    capsys.readouterr()
    tables = [RunFolder(path).manifest().settings["tables"] for path in (few, more)]
    assert tables[1] > tables[0]
    assert "## More tables" in (out / "report.md").read_text(encoding="utf-8")
