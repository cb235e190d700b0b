"""Jobs on BigQuery: budgets, retries, cancelling, paging, labels. The server is a loopback one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from bmsql.backends import BigQueryBackend, job_labels
from bmsql.backends.bigquery import _retry, _rows
from bmsql.errors import (
    BackendError,
    BackendUnavailableError,
    BudgetExceededError,
    CredentialsError,
    ExecutionError,
    PermissionDeniedError,
    QueryCancelledError,
    QueryTimeoutError,
    QuotaExceededError,
)
from bmsql.types import Limits, ValidatedQuery
from tests.servers.bigquery import MIB, FakeBigQuery

Query = Callable[[str], ValidatedQuery]
NAMES = "SELECT id FROM `lab-project.kb.Items` ORDER BY id LIMIT 3"
ENDLESS = "SELECT SUM(a.x * b.x * c.x * d.x) AS n FROM Items a, Items b, Items c, Items d"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_retry, "FIRST_WAIT", 0.01)


def methods(fake: FakeBigQuery) -> list[str]:
    return [name for name, _ in fake.calls if name not in ("datasets.get", "tables.list", "tables.get")]


def test_a_query_is_checked_then_run_once(fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
    bigquery.execute(query(NAMES), Limits())
    assert [name for name in methods(fake) if name != "jobs.get"] == ["dryRun", "jobs.insert", "jobs.getQueryResults"]
    bigquery.execute(query(NAMES), Limits())
    assert methods(fake).count("dryRun") == 1, "the same query is not checked again"


def test_the_cap_is_the_budget_not_the_estimate(fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
    bigquery.execute(query(NAMES), Limits(bytes_billed=123 * MIB, seconds=7))
    [job] = fake.jobs.values()
    assert job.query["maximumBytesBilled"] == str(123 * MIB)
    assert job.query["useLegacySql"] is False
    assert job.query["defaultDataset"] == {"projectId": "lab-project", "datasetId": "kb"}
    assert 7000 < int(job.config["jobTimeoutMs"]) < 60_000


class TestBudget:
    def test_a_query_beyond_it_is_not_run(self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
        bigquery.execute(query(NAMES), Limits())
        with pytest.raises(BudgetExceededError) as caught:
            bigquery.execute(query("SELECT id, n FROM Items"), Limits(bytes_billed=MIB))
        assert len(fake.jobs) == 1
        message = str(caught.value)
        assert "would read 10 MiB and cost about $0.00006" in message
        assert "the budget is 1 MiB" in message
        assert "So far 1 query was billed 10 MiB" in message
        assert "bytes_billed=10485760" in message
        # What the message says to set is enough.
        bigquery.execute(query("SELECT id, n FROM Items"), Limits(bytes_billed=10485760))

    def test_it_says_that_clustered_tables_are_overestimated_and_how_to_read_less(
        self, fake: FakeBigQuery, query: Query
    ) -> None:
        fake.data.tables["kb", "Items"].meta |= {
            "clustering": {"fields": ["name", "n"]},
            "timePartitioning": {"type": "DAY", "field": "day"},
        }
        with BigQueryBackend(fake.project, "kb", endpoint=fake.url, catalogue_cache_hours=0) as backend:
            tables = ("Items",)
            made = query("SELECT n FROM Items").model_copy(update={"tables": tables})
            assert backend.dry_run(made).upper_bound
            with pytest.raises(BudgetExceededError) as caught:
                backend.execute(made, Limits(bytes_billed=5))
        assert "Items is clustered by name, n" in caught.value.message
        assert "filter on day of Items" in caught.value.remedy

    def test_an_upper_bound_is_said_without_a_catalogue_too(self, fake: FakeBigQuery, query: Query) -> None:
        fake.data.tables["kb", "Items"].meta["clustering"] = {"fields": ["name"]}
        with (
            BigQueryBackend(fake.project, "kb", endpoint=fake.url, catalogue_cache_hours=0) as backend,
            pytest.raises(BudgetExceededError, match="upper bound"),
        ):
            backend.execute(query("SELECT n FROM Items"), Limits(bytes_billed=5))

    def test_what_the_server_refuses_in_spite_of_the_estimate(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        fake.fail_job("bytesBilledLimitExceeded", "Query exceeded limit for bytes billed: 1000000. 10485760 or higher.")
        with pytest.raises(BudgetExceededError, match="10485760 or higher"):
            bigquery.execute(query(NAMES), Limits())
        assert len(fake.jobs) == 1, "it is not tried again"

    def test_spending_is_added_up_across_threads(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        sizes = []

        def one(column: str) -> None:
            result = bigquery.execute(query(f"SELECT {column} FROM Items"), Limits())
            sizes.append((result.bytes_processed, result.bytes_billed, result.cost))

        threads = [threading.Thread(target=one, args=(column,)) for column in ("id", "n", "x", "name")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(size[0] for size in sizes) == [9500, 16000, 16000, 20890]
        assert {size[1] for size in sizes} == {10 * MIB}
        spent = bigquery.spent
        assert (spent.queries, spent.bytes_billed) == (4, 40 * MIB)
        assert spent.cost == pytest.approx(40 / 1024**2 * 6.25)
        assert sum(size[2] for size in sizes) == pytest.approx(spent.cost)

    def test_a_result_from_the_cache_costs_nothing(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        fake.use_cache = True
        assert [bigquery.execute(query(NAMES), Limits()).bytes_billed for _ in range(2)] == [10 * MIB, 0]


class TestRetries:
    @pytest.mark.parametrize(
        ("method", "status", "reason"),
        [
            ("dryRun", 503, "backendError"),
            ("jobs.insert", 500, "internalError"),
            ("jobs.getQueryResults", 502, "badGateway"),
            ("tables.list", 429, ""),
            ("tables.get", 503, ""),
        ],
    )
    def test_what_passes_is_tried_again(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query, method: str, status: int, reason: str
    ) -> None:
        fake.fail(method, status, reason, "Try again.", times=2)
        assert len(bigquery.execute(query(NAMES), Limits()).rows) == 3
        assert len(fake.jobs) == 1

    def test_polling_survives_failures(self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
        fake.hold = 0.2
        fake.fail("jobs.get", 503, "backendError", "Try again.", times=2)
        assert len(bigquery.execute(query(NAMES), Limits()).rows) == 3
        assert len(fake.jobs) == 1

    def test_rate_limits_pass(self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
        fake.fail("jobs.insert", 403, "rateLimitExceeded", "Exceeded rate limits: too many api requests per user.")
        assert len(bigquery.execute(query(NAMES), Limits()).rows) == 3

    def test_a_job_whose_failure_passes_is_run_anew(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        fake.fail_job("backendError", "The job encountered an error during execution. Retrying may solve it.", times=2)
        assert len(bigquery.execute(query(NAMES), Limits()).rows) == 3
        assert len(fake.jobs) == 3
        assert len({job.id for job in fake.jobs.values()}) == 3

    def test_a_lost_answer_does_not_run_the_query_twice(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        fake.lose("jobs.insert")
        assert len(bigquery.execute(query(NAMES), Limits()).rows) == 3
        assert len(fake.jobs) == 1
        assert methods(fake).count("jobs.insert") == 2

    def test_what_does_not_pass_ends_after_so_many_tries(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        fake.fail("jobs.insert", 503, "backendError", "Backend error.", times=100)
        with pytest.raises(BackendUnavailableError, match="failed after 6 tries: Backend error"):
            bigquery.execute(query(NAMES), Limits())
        assert methods(fake).count("jobs.insert") == _retry.TRIES, "one layer tries again, not two"

    def test_the_time_limit_ends_trying(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bigquery.catalog()
        fake.fail("jobs.insert", 503, "backendError", "Backend error.", times=100)
        started = time.perf_counter()
        monkeypatch.setattr(_retry, "FIRST_WAIT", 5)
        with pytest.raises(BackendError):
            bigquery.execute(query(NAMES), Limits(seconds=0.5))
        assert time.perf_counter() - started < 3

    def test_no_server_at_all(self, query: Query) -> None:
        with (
            BigQueryBackend("lab-project", "kb", endpoint="http://127.0.0.1:9", catalogue_cache_hours=0) as backend,
            pytest.raises(BackendUnavailableError, match="could not be reached in 6 tries"),
        ):
            backend.catalog()


LASTING = [
    (
        403, "quotaExceeded", "Quota exceeded: Your project exceeded quota for free query bytes scanned.",
        QuotaExceededError, "free query bytes scanned", "quotas",
    ),
    (
        403, "accessDenied",
        "Access Denied: Project pay: User does not have bigquery.jobs.create permission in project pay.",
        PermissionDeniedError, "bigquery.jobs.create", "billing_project",
    ),
    (
        403, "accessDenied",
        "Access Denied: Table lab:kb.T: User does not have permission to query table lab:kb.T, or it does not exist.",
        PermissionDeniedError, "permission to query table", "roles/bigquery.dataViewer",
    ),
    (403, "accessDenied", "Caller does not have serviceusage.services.use", PermissionDeniedError, "services.use",
     "serviceUsageConsumer"),
    (403, "billingNotEnabled", "Billing has not been enabled for this project.", PermissionDeniedError, "billed",
     "Enable billing"),
    (401, "authError", "Request had invalid authentication credentials.", CredentialsError, "credentials",
     "gcloud auth"),
    (404, "notFound", "Not found: Dataset lab:kb was not found in location US", BackendUnavailableError,
     "was not found in location US", "location"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "reason", "said", "error", "message", "remedy"), LASTING)
def test_lasting_errors_are_not_tried_again_and_say_what_to_do(
    fake: FakeBigQuery,
    bigquery: BigQueryBackend,
    query: Query,
    status: int,
    reason: str,
    said: str,
    error: type[BackendError],
    message: str,
    remedy: str,
) -> None:
    fake.fail("jobs.insert", status, reason, said, times=100)
    with pytest.raises(error, match=message) as caught:
        bigquery.execute(query(NAMES), Limits())
    assert type(caught.value) is error
    assert remedy in caught.value.remedy
    assert "http" not in caught.value.message, "the request is no part of the message"
    assert caught.value.__cause__ is not None
    # google-auth renews credentials once when it meets a 401.
    assert methods(fake).count("jobs.insert") <= (3 if status == 401 else 1)


@pytest.mark.parametrize("permission", ["bigquery.jobs.create", "bigquery.tables.getData"])
def test_the_missing_permission_can_be_read(
    fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query, permission: str
) -> None:
    fake.fail("dryRun", 403, "accessDenied", f"Access Denied: User does not have {permission} permission.")
    with pytest.raises(PermissionDeniedError) as caught:
        bigquery.dry_run(query(NAMES))
    assert caught.value.permission == permission


@pytest.mark.parametrize("reason", ["invalidQuery", "resourcesExceeded", "responseTooLarge", "invalid"])
def test_a_failed_query_keeps_the_message_and_the_place(
    fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query, reason: str
) -> None:
    said = "Division by zero: 1 / 0 at [2:14]"
    fake.fail_job(reason, said)
    with pytest.raises(ExecutionError) as caught:
        bigquery.execute(query(NAMES), Limits())
    assert caught.value.message == said


def test_an_unknown_name_has_a_place(bigquery: BigQueryBackend, query: Query) -> None:
    with pytest.raises(ExecutionError, match=r"^Unrecognized name: nothing at \[2:3\]"):
        bigquery.execute(query("SELECT\n  nothing\nFROM Items"), Limits())


def test_only_a_select_is_run(fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
    dry = fake._dry

    def scripted(project: str, body: dict[str, object]) -> dict[str, object]:
        answer = dry(project, body)
        answer["statistics"]["query"]["statementType"] = "SCRIPT"
        return answer

    fake._dry = scripted  # type: ignore[method-assign]
    with pytest.raises(ExecutionError, match="Only a single SELECT is run, not SCRIPT"):
        bigquery.execute(query(NAMES), Limits())
    assert not fake.jobs


class TestStopping:
    def test_a_timeout_cancels_the_job_on_the_server(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        with pytest.raises(QueryTimeoutError, match=r"within 1 s .* job bmsql_\w+ was cancelled on the server"):
            bigquery.execute(query(ENDLESS), Limits(seconds=1))
        [job] = fake.jobs.values()
        assert job.stop.is_set()
        assert job.done.wait(30), "the server ends it in its own time"
        assert job.error is not None
        assert job.error.reason == "stopped"

    def test_a_cancel_event_cancels_the_job_on_the_server(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        fake.hold = 30
        cancel = threading.Event()

        def cancel_once_it_runs() -> None:
            while not fake.jobs:
                time.sleep(0.01)
            cancel.set()

        timer = threading.Thread(target=cancel_once_it_runs)
        timer.start()
        with pytest.raises(QueryCancelledError, match="was cancelled on the server"):
            bigquery.execute(query(NAMES), Limits(), cancel=cancel)
        timer.join()
        assert next(iter(fake.jobs.values())).stop.is_set()

    def test_a_job_that_cannot_be_cancelled_still_ends_here(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        fake.hold = 30
        fake.fail("jobs.cancel", 503, "backendError", "Backend error.", times=100)
        started = time.perf_counter()
        with pytest.raises(QueryTimeoutError):
            bigquery.execute(query(NAMES), Limits(seconds=0.3))
        assert time.perf_counter() - started < fake.hold / 2

    def test_somebody_else_stops_the_job(self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
        fake.fail_job("stopped", "Job execution was cancelled: User requested cancellation")
        with pytest.raises(QueryCancelledError, match="stopped on the server"):
            bigquery.execute(query(NAMES), Limits())

    def test_the_server_ends_the_job(self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
        fake.fail_job("timeout", "Job timed out after 30s")
        with pytest.raises(QueryTimeoutError, match="timed out after 30s"):
            bigquery.execute(query(NAMES), Limits())


class TestRows:
    def test_pages_are_put_together(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake.page_rows = 150
        result = bigquery.execute(query("SELECT n FROM Items ORDER BY n"), Limits(rows=700))
        assert [row[0] for row in result.rows] == list(range(700))
        assert result.truncated
        assert methods(fake).count("jobs.getQueryResults") == 5

    def test_no_more_rows_are_fetched_than_asked_for(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query
    ) -> None:
        bigquery.execute(query("SELECT n FROM Items"), Limits(rows=10))
        assert fake.called("jobs.getQueryResults")[0]["maxResults"] == "11"

    def test_bytes_are_capped_at_a_page(
        self, fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_rows, "PAGE_ROWS", 100)
        fake.page_rows = 100
        result = bigquery.execute(query("SELECT REPEAT('x', 5000) AS t FROM Items"), Limits(rows=2000, memory_mb=1))
        assert result.truncated
        assert len(result.rows) == 300, "the page that goes beyond a MiB is the last"


class TestLabels:
    def test_jobs_and_dry_runs_have_them(self, fake: FakeBigQuery, query: Query) -> None:
        labels = {"Team": "Genetics & Co", "9 lives": "x" * 80}
        with (
            BigQueryBackend(fake.project, "kb", endpoint=fake.url, labels=labels, catalogue_cache_hours=0) as backend,
            job_labels(question_id="Q 7", node="execute"),
        ):
            with job_labels(node="refine", team=""):
                backend.execute(query(NAMES), Limits())
            backend.execute(query(NAMES), Limits())
        first, second = (job.labels for job in fake.jobs.values())
        assert {key: first[key] for key in ("app", "team", "question_id", "node")} == {
            "app": "bmsql", "team": "genetics---co", "question_id": "q-7", "node": "refine",
        }  # fmt: skip
        assert len(first["x-9-lives"]) == 63
        assert second["node"] == "execute"
        assert fake.called("dryRun")[0]["configuration"]["labels"] == first
