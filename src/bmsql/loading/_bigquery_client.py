"""A client of BigQuery for loading, from `bigquery://project/dataset?location=...&billing_project=...`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bmsql.backends.bigquery import error_of, is_vendor_error, make_client, options_of
from bmsql.errors import (
    BackendUnavailableError,
    BmsqlError,
    ConfigurationError,
    ExecutionError,
    PermissionDeniedError,
)

if TYPE_CHECKING:
    from google.api_core.retry import Retry
    from google.cloud.bigquery import Client, DatasetReference

_RETRY_SECONDS = 90.0


def open_client(url: str) -> tuple[Client, DatasetReference, str]:
    """A client, the dataset to load into, and its location (empty where it is not given).

    Raises ConfigurationError for a wrong URL, CredentialsError without usable credentials,
    MissingDependencyError without google-cloud-bigquery.
    """
    options = options_of(url)
    location = options.get("location", "")
    client = make_client(
        project=options.get("billing_project", options["project"]),
        credentials=options.get("credentials"),
        location=location,
        endpoint=options.get("endpoint", ""),
    )
    from google.cloud.bigquery import DatasetReference

    return client, DatasetReference(options["project"], options["dataset"]), location


def brief_retry() -> Retry:
    """The client's own rule of what is tried again, for less than its ten minutes."""
    from google.cloud.bigquery import DEFAULT_RETRY

    return DEFAULT_RETRY.with_timeout(_RETRY_SECONDS)


@contextmanager
def mapped(where: str) -> Iterator[None]:
    """Google's errors as those of bmsql, with BigQuery's own message."""
    from google.api_core.exceptions import Forbidden, NotFound

    try:
        yield
    except BmsqlError:
        raise
    except NotFound as e:
        raise ConfigurationError(
            f"{where}: {e.message}", remedy="Check the names of project and dataset, and the location."
        ) from e
    except Exception as e:
        if not is_vendor_error(e):
            raise
        error = error_of(e, name=where)
        if type(error) in (BackendUnavailableError, ExecutionError):
            if isinstance(e, Forbidden):
                error = PermissionDeniedError(error.message, remedy="Grant the role that the message names.")
            else:
                error = BackendUnavailableError(error.message, remedy="Run the command again: it goes on where it was.")
        raise error from e
