"""What a BigQuery backend is opened with: URLs, credentials, endpoints, labels."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth.credentials import AnonymousCredentials
from google.cloud.bigquery import Client

from bmsql import Agent
from bmsql.backends import BigQueryBackend, open_backend
from bmsql.backends.bigquery import clean_labels
from bmsql.errors import BmsqlError, ConfigurationError, CredentialsError, MissingDependencyError
from bmsql.types import Limits, ValidatedQuery, money_text, size_text
from tests.servers.bigquery import FakeBigQuery

LOCAL = "endpoint=http://127.0.0.1:9"


def test_a_url_says_everything() -> None:
    url = (
        f"BigQuery://data-project/kb?{LOCAL}&location=EU&billing_project=pay-project&datasets=other,far-project.more"
        "&labels=team:genetics,env:test&price_per_tib=7.5&catalogue_cache_hours=2"
    )
    backend = open_backend(url, limits=Limits(rows=5))
    assert isinstance(backend, BigQueryBackend)
    assert backend.name == "bigquery://data-project/kb"
    assert (backend.project, backend.dataset, backend.billing_project) == ("data-project", "kb", "pay-project")
    assert backend._others == (("data-project", "other"), ("far-project", "more"))
    assert backend._labels == {"app": "bmsql", "team": "genetics", "env": "test"}
    assert (backend._meter.price_per_tib, backend._cache.hours, backend._location) == (7.5, 2.0, "EU")
    assert backend.limits.rows == 5


@pytest.mark.parametrize(
    ("url", "message", "remedy"),
    [
        ("bigquery://", "names no BigQuery dataset", "bigquery://project/dataset"),
        ("bigquery://project", "names no BigQuery dataset", "bigquery://project/dataset"),
        ("bigquery://project/a/b", "names no BigQuery dataset", "bigquery://project/dataset"),
        ("bigquery:///kb", "names no BigQuery dataset", "bigquery://project/dataset"),
        ("bigquery://project/kb?locaton=EU", "no parameter 'locaton'", "Did you mean location?"),
        ("bigquery://project/kb?x=1", "no parameter 'x'", "billing_project"),
        ("bigquery://project/kb?location=EU&location=US", "location is given twice", "once"),
        ("bigquery://project/kb?location=", "location is empty", "Give a value"),
        ("bigquery://project/kb?price_per_tib=cheap", "price_per_tib is 'cheap'", "number"),
        ("bigquery://project/kb?price_per_tib=-1", "price_per_tib is -1", "dollars"),
        ("bigquery://project/kb?price_per_tib=nan", "price_per_tib is nan", "dollars"),
        ("bigquery://project/kb?catalogue_cache_hours=-1", "catalogue_cache_hours is -1", "hours"),
        ("bigquery://project/kb?labels=team", "labels holds 'team'", "key:value"),
        ("bigquery://My Project/kb", "no id of a Google Cloud project", "lower-case"),
        ("bigquery://project/kb-2", "no name of a dataset", "underscores"),
        ("bigquery://project/kb?billing_project=X", "billing_project is 'X'", "lower-case"),
        ("bigquery://project/kb?datasets=a-b", "no name of a dataset", "underscores"),
        ("bigquery://project/kb?endpoint=nonsense", "endpoint is 'nonsense'", "http://127.0.0.1"),
        ("bigquery://project/kb?endpoint=http://example.org", "unencrypted", "https"),
    ],
)
def test_wrong_urls_say_what_is_wrong(url: str, message: str, remedy: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_backend(url)
    assert message in caught.value.message
    assert remedy in caught.value.remedy


def test_an_agent_says_which_variable_named_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BMSQL_BACKEND", "bigquery://project/kb?locaton=EU")
    with pytest.raises(ConfigurationError, match="BMSQL_BACKEND is 'bigquery://project/kb"):
        Agent()


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.cloud.bigquery", None)
    with pytest.raises(MissingDependencyError) as caught:
        open_backend(f"bigquery://project/kb?{LOCAL}")
    assert "bmsql[bigquery]" in caught.value.remedy


@pytest.fixture(scope="module")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


@pytest.fixture
def key_file(fake: FakeBigQuery, private_key: str, tmp_path: Path) -> Path:
    """A service account's key whose tokens the loopback server gives."""
    fake.token = "secret-token"
    path = tmp_path / "key.json"
    account = {
        "type": "service_account",
        "client_email": "reader@lab-project.iam.gserviceaccount.com",
        "private_key": private_key,
        "token_uri": f"{fake.url}/token",
        "project_id": "lab-project",
    }
    path.write_text(json.dumps(account))
    return path


class TestCredentials:
    def test_a_service_account_file(
        self, fake: FakeBigQuery, key_file: Path, query: Callable[[str], ValidatedQuery]
    ) -> None:
        url = f"bigquery://lab-project/kb?endpoint={fake.url}&credentials={key_file}&catalogue_cache_hours=0"
        with open_backend(url) as backend:  # type: ignore[attr-defined]
            assert backend.execute(query("SELECT COUNT(*) AS n FROM Items"), Limits()).rows == ((2000,),)
        assert fake.called("token")

    def test_application_default_credentials(
        self, fake: FakeBigQuery, key_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key_file))
        from bmsql.backends.bigquery._client import default_credentials

        credentials = default_credentials()
        with BigQueryBackend(
            "lab-project", "kb", credentials=credentials, endpoint=fake.url, catalogue_cache_hours=0
        ) as backend:
            assert backend.catalog().tables

    def test_a_client_of_ones_own(self, fake: FakeBigQuery) -> None:
        client = Client(
            project="lab-project", credentials=AnonymousCredentials(), client_options={"api_endpoint": fake.url}
        )
        with BigQueryBackend(dataset="kb", client=client, catalogue_cache_hours=0) as backend:
            assert (backend.project, backend.billing_project) == ("lab-project", "lab-project")
            assert backend.catalog().tables
        assert client.get_dataset("lab-project.kb"), "closing the backend leaves it open"
        with pytest.raises(ConfigurationError, match="together with credentials="):
            BigQueryBackend(dataset="kb", client=client, credentials="x.json")

    def test_refused_credentials(self, fake: FakeBigQuery) -> None:
        fake.token = "secret-token"
        with (
            BigQueryBackend("lab-project", "kb", endpoint=fake.url, catalogue_cache_hours=0) as backend,
            pytest.raises(CredentialsError),
        ):
            backend.catalog()

    def test_none_at_all(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
        monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
        monkeypatch.setenv("NO_GCE_CHECK", "true")
        with pytest.raises(CredentialsError, match="no usable Google credentials") as caught:
            open_backend("bigquery://lab-project/kb")
        assert "gcloud auth application-default login" in caught.value.remedy

    @pytest.mark.parametrize(
        "content",
        [None, "", "{", "[]", "{}", '{"type": "service_account"}', '{"type": "service_account", "x": "SECRET"}'],
    )
    def test_unusable_files(self, tmp_path: Path, content: str | None) -> None:
        path = tmp_path / "key.json"
        if content is not None:
            path.write_text(content)
        with pytest.raises(CredentialsError) as caught:
            open_backend(f"bigquery://lab-project/kb?credentials={path}")
        assert str(path) in caught.value.message
        assert "SECRET" not in str(caught.value)


def test_the_billing_project_runs_the_jobs(fake: FakeBigQuery, query: Callable[[str], ValidatedQuery]) -> None:
    with BigQueryBackend(
        fake.project, "kb", endpoint=fake.url, billing_project="pay-project", catalogue_cache_hours=0
    ) as backend:
        backend.execute(query("SELECT 1 AS one"), Limits())
    [job] = fake.jobs.values()
    assert (job.project, job.location) == ("pay-project", "EU"), "jobs run where the dataset lies"


def test_a_wrong_location_is_said(fake: FakeBigQuery, query: Callable[[str], ValidatedQuery]) -> None:
    with (
        BigQueryBackend(fake.project, "kb", endpoint=fake.url, location="US", catalogue_cache_hours=0) as backend,
        pytest.raises(BmsqlError, match="not found in location US") as caught,
    ):
        backend.execute(query("SELECT 1 AS one"), Limits())
    assert "location" in caught.value.remedy


@pytest.mark.parametrize(
    ("key", "value", "cleaned"),
    [
        ("app", "bmsql", {"app": "bmsql"}),
        ("Node", "Refine", {"node": "refine"}),
        ("question id", "Q#7 (dev)", {"question-id": "q-7--dev-"}),
        ("7th", "", {"x-7th": ""}),
        ("_x", "a_b-c", {"x-_x": "a_b-c"}),
        ("größe", "ÄÖ", {"größe": "äö"}),
        ("", "x", {"x-": "x"}),
    ],
)
def test_labels_are_made_to_fit(key: str, value: str, cleaned: dict[str, str]) -> None:
    assert clean_labels({key: value}) == cleaned


def test_long_labels_stay_apart() -> None:
    one, two = (clean_labels({"k": "x" * 100 + end})["k"] for end in "ab")
    assert len(one) == len(two) == 63
    assert one != two
    with pytest.raises(ConfigurationError, match="64 labels"):
        clean_labels({f"k{number}": "" for number in range(65)})


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (10485760, "10 MiB"),
        (1610612736, "1.5 GiB"),
        (5 * 1024**4, "5 TiB"),
    ],
)
def test_sizes_for_people(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (0, "$0"),
        (1.254, "$1.25"),
        (1234.5, "$1,234.50"),
        (0.0123, "$0.01"),
        (0.00006, "$0.00006"),
        (1e-9, "less than $0.000001"),
    ],
)
def test_money_for_people(dollars: float, text: str) -> None:
    assert money_text(dollars) == text
