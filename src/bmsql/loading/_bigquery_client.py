"""A client of BigQuery for loading, from `bigquery://project/dataset?location=...&billing_project=...`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from bmsql.errors import (
    BackendUnavailableError,
    BmsqlError,
    ConfigurationError,
    CredentialsError,
    MissingDependencyError,
)

if TYPE_CHECKING:
    from google.api_core.retry import Retry
    from google.cloud.bigquery import Client, DatasetReference

_RETRY_SECONDS = 90.0
_PARAMETERS = ("location", "billing_project", "credentials", "endpoint")
_LOG_IN = "Run `gcloud auth application-default login`, or name a service-account file as credentials=."


def open_client(url: str) -> tuple[Client, DatasetReference, str]:
    """A client, the dataset to load into, and its location (empty where it is not given).

    Raises ConfigurationError for a wrong URL, CredentialsError without usable credentials,
    MissingDependencyError without google-cloud-bigquery.
    """
    path, _, query = url.partition("://")[2].partition("?")
    project, _, dataset = (unquote(part) for part in path.rstrip("/").partition("/"))
    options = dict(parse_qsl(query))
    unknown = [name for name in options if name not in _PARAMETERS]
    if not project or not dataset or "/" in dataset or unknown:
        wrong = f"{unknown[0]!r} is no parameter of it" if unknown else "it names no dataset"
        raise ConfigurationError(
            f"{url.partition('?')[0]!r}: {wrong}.",
            remedy=f"Write bigquery://project/dataset, with {', '.join(_PARAMETERS)} after a question mark.",
        )
    try:
        import google.auth
        from google.auth.credentials import AnonymousCredentials
        from google.auth.exceptions import GoogleAuthError
        from google.cloud.bigquery import Client, DatasetReference
    except ImportError as e:
        raise MissingDependencyError(
            "google-cloud-bigquery is not installed.", remedy="Install it: pip install 'bmsql[bigquery]'."
        ) from e
    endpoint = options.get("endpoint", "")
    try:
        if "credentials" in options:
            credentials, _ = google.auth.load_credentials_from_file(options["credentials"])  # type: ignore[no-untyped-call]
        elif endpoint.startswith(("http://127.0.0.1:", "http://localhost:")):
            credentials = AnonymousCredentials()  # type: ignore[no-untyped-call]
        else:
            credentials, _ = google.auth.default()
    except (GoogleAuthError, OSError) as e:
        raise CredentialsError(f"There are no usable Google credentials: {e}", remedy=_LOG_IN) from e
    client = Client(
        project=options.get("billing_project", project),
        credentials=credentials,
        location=options.get("location"),
        client_options={"api_endpoint": endpoint} if endpoint else None,
    )
    return client, DatasetReference(project, dataset), options.get("location", "")


def brief_retry() -> Retry:
    """The client's own rule of what is tried again, for less than its ten minutes."""
    from google.cloud.bigquery import DEFAULT_RETRY

    return DEFAULT_RETRY.with_timeout(_RETRY_SECONDS)


@contextmanager
def mapped(where: str) -> Iterator[None]:
    """Google's errors as those of bmsql, with BigQuery's own message."""
    import requests.exceptions
    from google.api_core.exceptions import Forbidden, GoogleAPIError, NotFound, Unauthorized
    from google.auth.exceptions import GoogleAuthError

    try:
        yield
    except BmsqlError:
        raise
    except (Forbidden, Unauthorized) as e:
        raise CredentialsError(f"{where}: {e.message}", remedy="Grant the role that the message names.") from e
    except GoogleAuthError as e:
        raise CredentialsError(f"Google's credentials were refused: {e}", remedy=_LOG_IN) from e
    except NotFound as e:
        raise ConfigurationError(
            f"{where}: {e.message}", remedy="Check the names of project and dataset, and the location."
        ) from e
    except (GoogleAPIError, requests.exceptions.RequestException, ConnectionError) as e:
        raise BackendUnavailableError(
            f"{where} could not be loaded: {getattr(e, 'message', '') or e}",
            remedy="Run the command again: it goes on where it was.",
        ) from e
