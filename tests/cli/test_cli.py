"""The command: what it prints where, its exit codes, and what it does in odd terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from bmsql.cli import run
from bmsql.cli._console import write_json
from bmsql.cli._table import fit
from bmsql.semantic import parse_semantic_model
from tests.graph.fakes import MODEL, ROWS

QUESTION = "Which SNPs near BIN1 are significantly associated with Alzheimer's disease?"
OUTSIDE = "Who won the 2018 World Cup?"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
Capture = pytest.CaptureFixture[str]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: Capture) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A little DuckDB file and its semantic model, as the texts that the options take."""
    folder = tmp_path_factory.mktemp("little")
    with duckdb.connect(str(folder / "little.duckdb")) as connection:
        connection.execute('CREATE TABLE study ("UUID" VARCHAR, "SNP" VARCHAR, p DOUBLE, gene VARCHAR)')
        connection.executemany("INSERT INTO study VALUES (?, ?, ?, ?)", ROWS)
    (folder / "model.yaml").write_text(MODEL)
    return f"duckdb://{folder / 'little.duckdb'}", str(folder / "model.yaml")


def process(*arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **more.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "bmsql", *arguments], capture_output=True, env=environment, timeout=60, **more
    )


# -- ask ------------------------------------------------------------------------------------------


def test_ask_shows_everything(cli: Run) -> None:
    code, out, err = cli("ask", QUESTION)
    assert (code, err) == (0, "")
    for part in (
        "SQL (BigQuery)\nSELECT\n  UUID,",
        "p < 5e-8",
        "Rows: showing 9 of 9 rows",
        "AD_combo_gene_notext_UUID_308",
        "rs6733839",
        "6.48e-90",
        "- genome_wide_significance (applied): p < 5e-8",
        "Pe'er et al. 2008",
        "Rows: 9 without it, 9 with it.",
        "Sources\n- Bellenguez2022_stageI_5e-8",
        "Reasoner: offline. Knowledge base: embedded. Profile: strict.",
    ):
        assert part in out
    assert not ANSI.search(out)


def test_ask_json_is_one_document(cli: Run) -> None:
    code, out, err = cli("ask", "--json", QUESTION)
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert len(document["rows"]) == 9
    assert document["conventions"][0]["rows_without"] == 9


def test_max_rows(cli: Run) -> None:
    _, out, _ = cli("ask", "--max-rows", "2", QUESTION)
    assert "Rows: showing 2 of 9 rows" in out
    assert out.count("AD_combo_gene_notext_UUID_") == 2
    _, out, _ = cli("ask", "--max-rows", "0", QUESTION)
    assert "Rows: showing 0 of 9 rows" in out


def test_abstention_has_its_own_exit_code(cli: Run) -> None:
    code, out, err = cli("ask", OUTSIDE)
    assert (code, err) == (3, "")
    assert out.startswith("I cannot answer this:")
    code, out, _ = cli("ask", "--json", OUTSIDE)
    assert code == 3
    assert json.loads(out)["abstained"] is True


def test_question_from_the_environment_and_from_standard_input(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setenv("BMSQL_QUESTION", OUTSIDE)
    assert cli("ask")[0] == 3
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{OUTSIDE}\n"))
    assert cli("ask", "-")[0] == 3
    assert cli("ask", "--", "-- --json")[0] == 3


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "kind", "said"),
    [
        (["ask"], 2, "UsageError", "give the question"),
        (["ask", ""], 2, "QuestionError", "empty"),
        (["ask", "x" * 5000], 2, "QuestionError", "5000 characters"),
        (["ask", "--nonsense", "q"], 2, "UsageError", "--nonsense"),
        (["ask", "--max-rows", "-1", "q"], 2, "UsageError", "--max-rows"),
        (["ask", "--profile", "lax", "q"], 2, "ConfigurationError", "lax"),
        (["ask", "--model", "gpt-5", "q"], 2, "ConfigurationError", "provider:name"),
        (["ask", "--backend", "oracle://x", "q"], 2, "ConfigurationError", "oracle"),
        (["ask", "--backend", "duckdb:///no/such/file.duckdb", "q"], 2, "BackendUnavailableError", "file.duckdb"),
        (["ask", "--semantic-model", "/no/such.yaml", "q"], 2, "SemanticModelError", "/no/such.yaml"),
        (["ask", "--limit", "pages=1", "q"], 2, "UsageError", "rows="),
        (["ask", "--limit", "rows=many", "q"], 2, "UsageError", "no number"),
        (["ask", "--limit", "rows=0", "q"], 2, "ConfigurationError", "rows"),
        (["schema", "nosuch"], 2, "ConfigurationError", "nosuch"),
        (["schema", "-o", "x.yaml"], 2, "UsageError", "--from"),
        (["nonsense"], 2, "UsageError", "nonsense"),
        (["check"], 2, "UsageError", "give the SQL"),
    ],
)
def test_errors_are_one_message_with_a_remedy(cli: Run, arguments: list[str], code: int, kind: str, said: str) -> None:
    found, out, err = cli(*arguments)
    assert (found, out) == (code, "")
    assert err.startswith("bmsql: ")
    assert said in err
    assert "Traceback" not in err
    assert len(err.splitlines()) == 2
    found, out, err = (
        cli(arguments[0], "--json", *arguments[1:]) if arguments != ["nonsense"] else cli(*arguments, "--json")
    )
    assert (found, err) == (code, "")
    error = json.loads(out)["error"]
    assert error["type"] == kind
    assert error["remedy"]


def test_error_in_a_file_gives_its_place(cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text("name: x\nfamilies: {}\ntables: []\n")
    _, out, _ = cli("ask", "--json", "--semantic-model", str(file), "q")
    error = json.loads(out)["error"]
    assert (error["file"], error["line"]) == (str(file), 3)


def test_debug_shows_where_an_error_came_from(cli: Run) -> None:
    assert "Traceback" in cli("ask", "--debug", "")[2]


def test_defect_ends_in_words(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr("bmsql.agent.Agent", broken)
    code, out, err = cli("ask", "q")
    assert (code, out) == (1, "")
    assert err.startswith("bmsql: Unexpected error: RuntimeError: oops\n")
    with pytest.raises(RuntimeError):
        run(["ask", "--debug", "q"])


def test_no_arguments_shows_the_help(cli: Run) -> None:
    code, out, err = cli()
    assert (code, out) == (2, "")
    assert "Usage: bmsql" in err


# -- the other commands ---------------------------------------------------------------------------


def test_plan(cli: Run) -> None:
    code, out, _ = cli("plan", QUESTION)
    assert code == 0
    assert "conventions" in out
    assert "genome_wide_significance (implied)" in out
    code, out, _ = cli("plan", "--json", QUESTION)
    assert json.loads(out)["sources"][0]["table"] == "AlzheimerDisease_CombinedGeneData_UUID"
    code, out, _ = cli("plan", OUTSIDE)
    assert code == 3
    assert out.startswith("Cannot be answered:")


def test_check(cli: Run, database: tuple[str, str]) -> None:
    options = ("--backend", database[0], "--semantic-model", database[1])
    code, out, _ = cli("check", *options, "SELECT SNP FROM study")
    assert code == 0
    assert "This SQL would run." in out
    assert "- fixed: " in out
    code, out, _ = cli("check", *options, "SELECT nosuch FROM study")
    assert code == 1
    assert "line 1, column 8" in out
    code, out, _ = cli("check", *options, "--json", "DROP TABLE study")
    assert code == 1
    assert json.loads(out)["problems"]


def test_schema(cli: Run, database: tuple[str, str]) -> None:
    _, out, _ = cli("schema")
    assert "gwas: GWAS summary statistics" in out
    _, out, _ = cli("schema", "GWAS")
    assert out.count("gwas.p_value") == 2
    _, out, _ = cli("schema", "--json")
    assert len(json.loads(out)["tables"]) == 10
    _, out, _ = cli("schema", "--json", "study", "--semantic-model", database[1])
    assert json.loads(out)["study"]["columns"][2] == {
        "name": "p",
        "type": "FLOAT64",
        "role": "gwas.p_value",
        "meaning": "p-value",
        "unit": "probability",
    }


def test_schema_of_another_database_is_written_and_used(cli: Run, database: tuple[str, str], tmp_path: Path) -> None:
    backend, file = database[0], tmp_path / "first.yaml"
    code, out, _ = cli("schema", "--from", backend)
    assert code == 0
    assert parse_semantic_model(out).evidence_key == "UUID"
    code, out, err = cli("schema", "--from", backend, "-o", str(file))
    assert (code, out) == (0, "")
    assert str(file) in err
    code, _, err = cli("schema", "--from", backend, "-o", str(file))
    assert code == 2
    assert "--force" in err
    assert cli("schema", "--from", backend, "-o", str(file), "--force")[0] == 0
    assert cli("schema", "--from", backend, "-o", str(tmp_path / "no" / "such"))[0] == 2
    code, out, _ = cli("ask", "--backend", backend, "--semantic-model", str(file), "--json", "Which snps of gene CCC?")
    assert code == 0
    assert {row["SNP"] for row in json.loads(out)["rows"]} == {"rs5", "rs6"}


def test_conventions(cli: Run, database: tuple[str, str]) -> None:
    options = ("--backend", database[0], "--semantic-model", database[1])
    _, out, _ = cli("conventions")
    assert "genome_wide_significance: Genome-wide significance\n  gwas.p_value < 5e-8\n" in out
    strict, loose = (
        {rule["name"] for rule in json.loads(cli("conventions", "--json", "--profile", profile)[1])["rules"]}
        for profile in ("strict", "biomedsql")
    )
    assert strict != loose
    _, out, _ = cli("conventions", "--question", QUESTION)
    assert out.startswith("- genome_wide_significance: implied")
    code, out, _ = cli("conventions", *options, "--sql", "SELECT SNP FROM study")
    assert code == 0
    assert "LIMIT 3" in out
    assert cli("conventions", *options, "--sql", "SELECT nosuch FROM study")[0] == 1
    _, out, _ = cli("conventions", *options, "--json", "--sql", "SELECT SNP FROM study")
    assert json.loads(out)["conventions"]


def test_kb_info(cli: Run, database: tuple[str, str]) -> None:
    _, out, _ = cli("kb", "info")
    assert "Bellenguez2022_stageI_5e-8" in out
    _, out, _ = cli("kb", "info", "--json")
    document = json.loads(out)
    assert len(document["tables"]) == 9
    assert sum(document["sources"].values()) == sum(table["rows"] for table in document["tables"])
    assert document["terms"]
    _, out, _ = cli("kb", "info", "--json", "--backend", database[0])
    assert json.loads(out)["tables"] == [{"name": "study", "rows": 6, "columns": 4}]


def test_doctor(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("BMSQL_PROFILE", "biomedsql")
    code, out, _ = cli("doctor")
    assert code == 0
    for part in (
        "reasoner: offline (the default)",
        "profile: biomedsql (set by BMSQL_PROFILE)",
        "OPENAI_API_KEY",
        "Trial query",
        "No problems found",
    ):
        assert part in out
    _, as_json, _ = cli("doctor", "--json")
    document = json.loads(as_json)
    assert document["keys_present"] == ["OPENAI_API_KEY"]
    assert document["trial"]["rows"] > 0
    assert "secret" not in out + as_json


def test_doctor_names_variables_that_have_no_effect(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BMSQL_PROFIL", "biomedsql")
    monkeypatch.setenv("BMSQL_SOME_TOKEN", "secret")
    code, out, _ = cli("doctor", "--json")
    problems = {problem["problem"].split()[0]: problem["remedy"] for problem in json.loads(out)["problems"]}
    assert code == 1
    assert problems["BMSQL_PROFIL"] == "Did you mean BMSQL_PROFILE?"
    assert "BMSQL_LIMIT_ROWS" in problems["BMSQL_SOME_TOKEN"]
    assert "secret" not in out


def test_json_has_no_bare_control_characters(capsys: Capture) -> None:
    write_json({"a": "\x1b[2J\x9b\x7f"})
    out = capsys.readouterr().out
    assert json.loads(out) == {"a": "\x1b[2J\x9b\x7f"}
    assert not {"\x1b", "\x9b", "\x7f"} & set(out)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("BMSQL_MODEL", "openai:gpt-5"),
        ("BMSQL_BACKEND", "duckdb:///no/such.duckdb"),
        ("BMSQL_CACHE_DIR", "/proc/nowhere"),
    ],
)
def test_doctor_names_each_problem_with_its_remedy(
    cli: Run, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    code, out, _ = cli("doctor", "--json")
    assert code == 1
    problems = json.loads(out)["problems"]
    assert problems
    assert all(problem["problem"] and problem["remedy"] for problem in problems)
    assert "problem(s)" in cli("doctor")[1]


# -- terminals, pipes, start-up -------------------------------------------------------------------


def on_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """The output of the command on a terminal of that width."""
    main, side = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **environment}
    child = subprocess.Popen(
        [sys.executable, "-m", "bmsql", *arguments],
        stdout=side,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=env,
    )
    os.close(side)
    chunks = []
    while select.select([main], [], [], 60)[0]:
        try:
            chunk = os.read(main, 65536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    child.wait(timeout=60)
    os.close(main)
    return b"".join(chunks).decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_terminal_has_colours_and_narrow_ones_are_kept_to() -> None:
    out = on_terminal(70, "ask", QUESTION)
    assert ANSI.search(out)
    plain = ANSI.sub("", out)
    sql, rest = plain.split("\nRows: showing")
    assert max(map(len, rest.splitlines())) <= 70
    assert "`bmsql.biomedsql.AlzheimerDisease_CombinedGeneData_UUID`" in sql
    assert "Columns that did not fit" in plain or "nearestGene" in plain
    assert "rs6733839" in plain
    narrow = on_terminal(30, "ask", QUESTION, NO_COLOR="1")
    assert "\x1b[3" not in narrow  # no colours; bold and dim may stay
    narrow = ANSI.sub("", narrow)
    assert max(map(len, narrow.split("\nRows: showing")[1].splitlines())) <= 30
    assert "UUID_308" in narrow
    assert "Columns that did not fit" in narrow.replace("\n", " ")


@pytest.mark.slow
def test_terminal_without_unicode() -> None:
    for options in ([], ["--json"]):
        done = process("ask", *options, QUESTION, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
        assert done.returncode == 0
        assert done.stderr == b""
        done.stdout.decode("ascii")


@pytest.mark.slow
def test_reader_that_goes_away_leaves_no_traceback() -> None:
    command = f"'{sys.executable}' -m bmsql schema --json | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60)
    assert done.stderr == b""
    assert len(done.stdout) == 10


@pytest.mark.slow
def test_help_loads_no_database_and_no_graph() -> None:
    code = (
        "import sys; from bmsql.cli import run; run(['--help']); run(['ask', '--help'])\n"
        "heavy = {'duckdb', 'langgraph', 'langchain_core', 'pyarrow', 'sqlglot', 'bmsql.types'} & set(sys.modules)\n"
        "sys.exit(str(sorted(heavy)) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert done.stderr == b""
    assert done.returncode == 0


def test_version(cli: Run) -> None:
    from bmsql import __version__

    assert cli("--version")[1].strip() == f"bmsql {__version__}"


@pytest.mark.parametrize(
    ("natural", "width", "wanted"),
    [
        ([5, 5], 80, [5, 5]),
        ([30, 40], 50, [22, 22]),
        ([10, 100], 60, [10, 44]),
        ([8, 8, 8], 25, [8, 8]),
        ([50], 20, [17]),
        ([50, 50], 5, [2]),
        ([], 10, []),
    ],
)
def test_columns_fit(natural: list[int], width: int, wanted: list[int]) -> None:
    assert fit(natural, width) == wanted
