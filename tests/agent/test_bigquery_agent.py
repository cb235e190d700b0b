"""The agent over BigQuery: what answers cost, one scan for several queries, models with other table names.

The server is a loopback one that holds the embedded knowledge base.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from bmsql import Agent
from bmsql.backends import BigQueryBackend, job_labels, open_embedded
from bmsql.cli._main import run
from bmsql.cli._show import used_line
from bmsql.errors import BackendUnavailableError, BudgetExceededError
from bmsql.graph import GraphContext
from bmsql.planning import compile_plan
from bmsql.semantic import parse_semantic_model
from bmsql.testing import ScriptedReasoner
from bmsql.types import Answer, Catalog, Limits, Plan, SelectItem, Source
from tests.backends.parity import same_answer
from tests.graph.fakes import MODEL, PLAN, ROWS, model
from tests.servers.bigquery import MIB, FakeBigQuery

# Google's client waits between tries.
pytestmark = pytest.mark.all

BIN1 = "Which SNPs near BIN1 are significantly associated with Alzheimer's disease?"
# A condition, a count, an aggregate, a join, a union, rows without keys of their own, an abstention.
QUESTIONS = [
    BIN1,
    "How many genome-wide significant SNPs does chromosome 17 carry for Parkinson's disease?",
    "What action type is most common among small molecules?",
    "Which drugs target a gene that SMR links to Alzheimer's disease?",
    "Where does rs5848 lie, in both genome builds?",
    "Who won the 2018 World Cup?",
]
LITTLE = "CREATE TABLE study (UUID VARCHAR, SNP VARCHAR, p DOUBLE, gene VARCHAR)"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeBigQuery]:
    """The embedded knowledge base, and the little study of the graph's tests in a dataset of its own."""
    with open_embedded() as embedded, FakeBigQuery("bmsql") as fake:
        fake.data.attach("biomedsql", str(embedded.path))
        rows = ", ".join(str(row).replace("None", "NULL") for row in ROWS)
        fake.data.add("little", f"{LITTLE}; INSERT INTO study VALUES {rows}")
        yield fake


@pytest.fixture(scope="module")
def here() -> Agent:
    return Agent()


@pytest.fixture(scope="module")
def plain(server: FakeBigQuery, here: Agent) -> Iterator[Agent]:
    """An agent of default limits; with the reasoner of the other one no index of values is built."""
    backend = f"bigquery://bmsql/biomedsql?endpoint={server.url}"
    with Agent(model=here.dependencies.reasoner, backend=backend) as agent:
        yield agent


@pytest.fixture(scope="module")
def frugal(server: FakeBigQuery, here: Agent) -> Iterator[Agent]:
    """An agent to which every scan is a large one."""
    backend = f"bigquery://bmsql/biomedsql?endpoint={server.url}"
    with Agent(model=here.dependencies.reasoner, backend=backend, limits={"ladder_bytes": 0}) as agent:
        yield agent


def little(server: FakeBigQuery, sql: str, plan: Plan = PLAN, **options: Any) -> Agent:
    """An agent over the little study, with a scripted draft."""
    backend = f"bigquery://bmsql/little?endpoint={server.url}"
    reasoner = ScriptedReasoner(plan=plan, draft=sql)
    return Agent(model=reasoner, backend=backend, **{"semantic_model": model(), **options})


@pytest.mark.all
def test_answers_of_one_scan_are_those_of_duckdb(frugal: Agent, here: Agent) -> None:
    differing = {question: same_answer(here.ask(question), frugal.ask(question)) for question in QUESTIONS}
    assert not any(differing.values()), differing


class TestOneScan:
    def test_general_refined_and_ladder_are_one_job(self, server: FakeBigQuery, plain: Agent, frugal: Agent) -> None:
        before = len(server.jobs)
        answer = frugal.ask(BIN1)
        jobs = list(server.jobs.values())[before:]
        assert len([job for job in jobs if "_row_sources" not in job.query["query"]]) == 1
        apart = plain.ask(BIN1)
        assert apart.usage.bytes_billed == 3 * 10 * MIB
        assert answer.usage.bytes_billed == 10 * MIB
        assert answer.usage.bytes_processed is not None
        assert answer.usage.bytes_processed < (apart.usage.bytes_processed or 0)
        assert same_answer(answer, apart) == []

    def test_small_scans_are_not_worth_it(self, server: FakeBigQuery, plain: Agent) -> None:
        before = len(server.jobs)
        plain.ask(BIN1)
        assert len(server.jobs) - before == 4

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT COUNT(DISTINCT SNP) FROM study",  # the result has no name
            "SELECT DISTINCT gene FROM study ORDER BY LENGTH(gene)",  # the order is not in the rows
        ],
    )
    def test_where_the_sql_does_not_allow_it_the_counts_are_left_out_and_the_answer_says_so(
        self, server: FakeBigQuery, sql: str
    ) -> None:
        with little(server, sql, limits={"ladder_bytes": 0}) as agent:
            answer = agent.ask("How many significant SNPs are there?")
        assert not answer.abstained
        assert answer.refined is not None
        assert any("Left out: the counts without each convention. That would" in text for text in answer.warnings)
        assert any("`ladder_bytes` allows 0 bytes" in text for text in answer.warnings)
        assert all(record.rows_without is None for record in answer.conventions)
        with little(server, sql) as agent:
            whole = agent.ask("How many significant SNPs are there?")
        assert whole.rows == answer.rows
        assert not any("Left out" in text for text in whole.warnings)
        assert any(record.rows_without is not None for record in whole.conventions)

    def test_a_combined_query_that_fails_is_run_in_parts(
        self, server: FakeBigQuery, plain: Agent, frugal: Agent
    ) -> None:
        before = len(server.jobs)
        server.fail_job("resourcesExceeded", "Resources exceeded during query execution.")
        answer = frugal.ask(BIN1)
        first, second, *_ = list(server.jobs.values())[before:]
        assert first.error is not None
        assert "ARRAY" in first.query["query"]
        assert "ARRAY" not in second.query["query"]
        assert answer.rows == plain.ask(BIN1).rows

    def test_rows_beyond_the_limit_are_cut_and_said(self, server: FakeBigQuery) -> None:
        for ladder_bytes in (0, 10**9):
            limits = {"ladder_bytes": ladder_bytes, "rows": 2}
            with little(server, "SELECT UUID, SNP FROM study ORDER BY p", limits=limits) as agent:
                answer = agent.ask("Which SNPs are significant?")
            assert answer.general is not None
            assert answer.general.result.truncated
            assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1"]


class TestCosts:
    def test_usage_tells_this_question_and_the_total(self, plain: Agent) -> None:
        first, second = plain.ask(BIN1).usage, plain.ask(BIN1).usage
        assert first.bytes_billed == second.bytes_billed == 30 * MIB
        assert first.cost == pytest.approx(30 / 1024**2 * 6.25)
        assert first.total_bytes_billed is not None
        # The sources of the rows are looked up too.
        assert second.total_bytes_billed == first.total_bytes_billed + 40 * MIB
        assert second.total_cost == pytest.approx(second.total_bytes_billed / 1024**4 * 6.25)

    def test_the_command_line_tells_them(self, plain: Agent, here: Agent) -> None:
        assert "Billed: 30 MiB ($0.000179); in all" in used_line(plain.ask(BIN1))
        assert "Billed" not in used_line(here.ask(BIN1))

    def test_duckdb_meters_nothing(self, here: Agent) -> None:
        usage = here.ask(BIN1).usage
        assert (usage.bytes_billed, usage.cost, usage.total_bytes_billed, usage.total_cost) == (None,) * 4

    def test_a_question_beyond_the_budget_is_refused_with_its_price(self, server: FakeBigQuery, plain: Agent) -> None:
        before = len(server.jobs)
        context = GraphContext(limits=Limits(bytes_billed=MIB))
        answer = Answer.model_validate(plain.graph.invoke({"question": BIN1}, context=context)["answer"])
        assert answer.abstained
        assert "would read 10 MiB and cost about $0.00006; the budget is 1 MiB" in answer.reason
        assert "bytes_billed=10485760" in answer.reason
        assert len(server.jobs) == before

    def test_sources_beyond_the_budget_cost_no_answer(self, plain: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(table: str, keys: object) -> dict[str, str]:
            raise BudgetExceededError("It would read 5 GiB.")

        monkeypatch.setattr(plain.dependencies.backend, "sources_of", refuse)
        answer = plain.ask(BIN1)
        assert answer.rows
        assert any("sources" in warning and "5 GiB" in warning for warning in answer.warnings)


class TestLabels:
    def test_each_job_names_its_node_and_question(self, server: FakeBigQuery, plain: Agent) -> None:
        before = len(server.jobs)
        with job_labels(team="Genetics"):
            plain.graph.invoke({"question": BIN1}, context=GraphContext(question_id="dev/01"))
        labels = [job.labels for job in list(server.jobs.values())[before:]]
        assert [label["node"] for label in labels] == ["execute", "execute", "refine", "refine"]
        assert {label["question_id"] for label in labels} == {"dev-01"}
        assert {label["team"] for label in labels} == {"genetics"}
        assert {label["app"] for label in labels} == {"bmsql"}

    def test_questions_without_an_id_are_told_apart(self, server: FakeBigQuery, plain: Agent) -> None:
        before = len(server.jobs)
        for question in QUESTIONS[:2]:
            plain.ask(question)
        asyncio.run(plain.aask(QUESTIONS[0]))
        ids = [job.labels["question_id"] for job in list(server.jobs.values())[before:]]
        assert len(set(ids)) == 2


def test_cancelling_the_task_stops_the_job_on_the_server(server: FakeBigQuery, plain: Agent) -> None:
    before = len(server.jobs)
    server.hold = 30

    async def ask_and_give_up() -> None:
        task = asyncio.create_task(plain.aask(BIN1))
        while len(server.jobs) == before:  # noqa: ASYNC110 - the server knows no event loop
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    try:
        asyncio.run(ask_and_give_up())
        job = list(server.jobs.values())[before]
        deadline = time.monotonic() + 5
        while not job.stop.is_set() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert job.stop.is_set()
    finally:
        server.hold = 0


def test_what_no_query_can_help_is_raised(server: FakeBigQuery, plain: Agent) -> None:
    server.fail(
        "jobs.insert", 403, "accessDenied", "Access Denied: User does not have bigquery.jobs.create permission."
    )
    with pytest.raises(BackendUnavailableError, match=r"bigquery\.jobs\.create"):
        plain.ask(BIN1)

    # The one scripted refusal is used up.
    assert plain.ask(BIN1).rows


KEYED = "SELECT UUID, SNP FROM study ORDER BY p"


@pytest.mark.parametrize("prefix", ["bmsql.little.", "little.", "LITTLE."])
def test_a_model_may_qualify_its_tables(server: FakeBigQuery, prefix: str) -> None:
    qualified = model().with_tables({prefix + name: table for name, table in model().tables.items()})
    with little(server, KEYED) as bare, little(server, KEYED, semantic_model=qualified) as agent:
        assert list(agent.dependencies.model.tables) == ["study"]
        assert same_answer(bare.ask("Which SNPs?"), agent.ask("Which SNPs?")) == []


def test_a_model_may_name_tables_of_a_further_dataset(server: FakeBigQuery) -> None:
    if ("desk", "notes") not in server.data.tables:
        server.data.add("desk", "CREATE TABLE notes (id VARCHAR)")
    url = f"bigquery://bmsql/desk?endpoint={server.url}&datasets=little"
    plan = Plan(sources=(Source(alias="s", table="little.study"),), conventions=PLAN.conventions)
    reasoner = ScriptedReasoner(plan=plan, draft=KEYED.replace("study", "little.study"))
    with Agent(model=reasoner, backend=url, semantic_model=model()) as agent:
        assert list(agent.dependencies.model.tables) == ["little.study"]
        answer = agent.ask("Which SNPs are significant?")
    assert "`bmsql.little.study`" in answer.sql
    assert answer.conventions[0].rows_without == 6
    assert len(answer.rows) == 3
    # The compiler writes the name in full too.
    compiled = compile_plan(
        plan.model_copy(update={"select": (SelectItem(column="gwas.variant"),)}), agent.dependencies.model, desk(server)
    )
    assert "`bmsql.little.study`" in compiled.sql(dialect="bigquery")


def desk(server: FakeBigQuery) -> Catalog:
    with BigQueryBackend("bmsql", "desk", endpoint=server.url, allowed_datasets=["little"]) as backend:
        return backend.catalog()


def test_doctor_tells_what_it_can(
    server: FakeBigQuery, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere.json")
    (tmp_path / "little.yaml").write_text(MODEL)
    backend = f"bigquery://bmsql/little?endpoint={server.url}"
    assert run(["doctor", "--backend", backend, "--semantic-model", str(tmp_path / "little.yaml")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"google-cloud-bigquery {version('google-cloud-bigquery')}" in out
    assert "the file named by GOOGLE_APPLICATION_CREDENTIALS, which does not exist" in out
    assert "knowledge base: bigquery://bmsql/little" in out


def test_a_model_can_be_begun_from_the_command_line(server: FakeBigQuery, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "--from", f"bigquery://bmsql/little?endpoint={server.url}"]) == 0
    begun = parse_semantic_model(capsys.readouterr().out)
    assert list(begun.tables) == ["study"]
    assert begun.evidence_key == "UUID"
