"""`bmsql kb load`, `pull`, `synth` and `info`: what they print, their exit codes, and the bar on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from bmsql.cli import run
from tests.loading.hub import COMMIT, Hub, serving

MODEL = str(Path(__file__).parent / "model.yaml")
GOOD = "id,name,position,p,good\nh1,APOE,1,0.5,true\nh2,MAPT,2,NA,false\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_load_and_info(cli: Run) -> None:
    Path("Hits.csv").write_text(GOOD)
    Path("Other.csv").write_text("x\n1\n")
    options = ("--to", "duckdb:///kb.duckdb", "--semantic-model", MODEL)
    code, out, err = cli("kb", "load", ".", *options)
    assert (code, out) == (1, "")
    assert "Hits.csv: column p holds 'NA', but FLOAT64 is expected" in err
    assert "--null" in err
    code, out, err = cli("kb", "load", ".", *options, "--null", "NA", "--source", "the lab")
    assert (code, err) == (0, "")  # no bar where there is no terminal
    target = f"duckdb:///{(Path.cwd() / 'kb.duckdb').as_posix().lstrip('/')}"
    assert f"--backend {target}" in out
    assert "Other: The semantic model knows no such table" in out
    code, out, _ = cli("kb", "load", ".", *options, "--null", "NA", "--source", "the lab", "--json")
    report = json.loads(out)
    assert {table["table"]: table["action"] for table in report["tables"]} == {
        "Hits": "unchanged",
        "Other": "unchanged",
    }
    code, out, _ = cli("kb", "info", "--backend", target)
    assert code == 0
    assert "the lab" in out
    assert report["tables"][0]["checksum"][:12] in out
    assert "SYNTHETIC" not in out
    with duckdb.connect("kb.duckdb") as connection:
        connection.execute("DELETE FROM Other")
    _, out, _ = cli("kb", "info", "--backend", target, "--json")
    document = json.loads(out)
    assert document["sources"] == {"the lab": 3}
    hits, other = document["tables"]
    assert (hits["rows"], hits["model"], hits["origin"]) == (2, "lab", str(Path.cwd()))
    assert (hits["files"][0]["name"], hits["files"][0]["rows"]) == ("Hits.csv", 2)
    assert (other["rows"], other["rows_when_loaded"]) == (0, 1)
    assert "changed since" in document["note"]


def test_info_of_a_file_that_was_not_loaded(cli: Run) -> None:
    with duckdb.connect("mine.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    code, out, _ = cli("kb", "info", "--backend", "duckdb://mine.duckdb", "--json")
    assert code == 0
    assert json.loads(out)["tables"] == [{"name": "t", "rows": 1, "columns": 1}]


def test_synth(cli: Run) -> None:
    code, out, _ = cli("kb", "synth", "--rows", "50", "--family", "frequency", "--seed", "3", "--json")
    assert code == 0
    (table,) = json.loads(out)["tables"]
    code, out, _ = cli("kb", "info", "--backend", "duckdb://synthetic.duckdb")
    assert "SYNTHETIC: 50 rows are made up" in out
    assert "seed 3" in out
    assert table["checksum"][:12] in out
    code, _, err = cli("kb", "synth", "--rows", "50", "--family", "nothing")
    assert code == 2
    assert "no synthetic rows for 'nothing'" in err


def test_pull(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Hub({"db_data/Hits.csv": GOOD.replace("NA", "").encode()})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(Path.cwd() / "cache"))
        options = ("--to", "duckdb://kb.duckdb", "--repository", "owner/name", "--semantic-model", MODEL)
        code, out, _ = cli("kb", "pull", *options, "--revision", "v1")
        assert code == 0
        assert "Hits" in out
        code, _, err = cli("kb", "pull", *options, "--revision", "v9")
        assert code == 2
        assert "no revision 'v9'" in err
    _, out, _ = cli("kb", "info", "--backend", "duckdb://kb.duckdb", "--json")
    assert json.loads(out)["tables"][0]["origin"] == f"owner/name@{COMMIT}"


def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "Hits.csv").write_text("id\nh1\n")
    command = [sys.executable, "-m", "bmsql", "kb", "load", "Hits.csv", "--to", "duckdb://kb.duckdb"]
    ours, theirs = pty.openpty()
    done = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, timeout=60,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "1/1 Hits: done" in shown
    assert "100%" in shown
