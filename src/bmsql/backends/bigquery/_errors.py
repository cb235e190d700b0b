"""Errors of Google's libraries as errors of the tree, with BigQuery's own message."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from bmsql.errors import (
    BackendError,
    BackendUnavailableError,
    BmsqlError,
    BudgetExceededError,
    CredentialsError,
    ExecutionError,
    PermissionDeniedError,
    QueryCancelledError,
    QueryTimeoutError,
    QuotaExceededError,
)

# Reasons that pass by themselves; the client's own list, and `jobRateLimitExceeded`.
_PASSING = frozenset(
    ("rateLimitExceeded", "jobRateLimitExceeded", "backendError", "internalError", "jobBackendError",
     "jobInternalError", "badGateway", "tableUnavailable")
)  # fmt: skip
_PASSING_STATUS = frozenset((429, 500, 502, 503, 504))
_LASTING = frozenset(
    ("bytesBilledLimitExceeded", "quotaExceeded", "accessDenied", "billingNotEnabled", "billingTierLimitExceeded",
     "blocked", "policyViolation", "invalid", "invalidQuery", "notFound", "resourcesExceeded", "responseTooLarge",
     "stopped", "timeout", "notImplemented", "duplicate")
)  # fmt: skip
_PERMISSION = re.compile(r"\b(?:bigquery|serviceusage|resourcemanager|storage)\.[A-Za-z]+\.[A-Za-z]+\b")
_REMEDIES = {
    "bigquery.jobs.create": "Grant roles/bigquery.jobUser on the project that is billed, or name another as "
    "billing_project.",
    "bigquery.tables.getData": "Grant roles/bigquery.dataViewer on the dataset.",
    "bigquery.tables.get": "Grant roles/bigquery.metadataViewer or roles/bigquery.dataViewer on the dataset.",
    "bigquery.tables.list": "Grant roles/bigquery.metadataViewer or roles/bigquery.dataViewer on the dataset.",
    "bigquery.datasets.get": "Grant roles/bigquery.metadataViewer or roles/bigquery.dataViewer on the dataset.",
    "serviceusage.services.use": "Grant roles/serviceusage.serviceUsageConsumer on the project that is billed.",
}
_GRANT = "Ask an owner of the project or dataset to grant it."
_LOG_IN = "Run `gcloud auth application-default login`, or give a service-account file as credentials=."


class Fault(NamedTuple):
    """What BigQuery says is wrong: HTTP status, reason, its message."""

    status: int
    reason: str
    message: str


def fault_of(error: BaseException) -> Fault:
    """What an error of the API says, without the request that the client puts before the message."""
    details: list[dict[str, Any]] = [one for one in getattr(error, "errors", None) or () if isinstance(one, dict)]
    first: dict[str, Any] = details[0] if details else {}
    message = str(first.get("message") or getattr(error, "message", "") or error)
    # An error without details has "POST https://...: " before it.
    message = re.sub(r"^(?:GET|POST|DELETE|PUT|PATCH) \S+: ", "", message)
    return Fault(int(getattr(error, "code", 0) or 0), str(first.get("reason") or ""), message)


def is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed soon: the only errors that are tried again."""
    import requests.exceptions
    from google.api_core.exceptions import GoogleAPICallError
    from google.auth.exceptions import TransportError

    match error:
        case requests.exceptions.SSLError():
            return False
        case requests.exceptions.RequestException() | TransportError() | ConnectionError():
            return not isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema)
        case GoogleAPICallError():
            fault = fault_of(error)
            if fault.reason in _LASTING:
                return False
            return fault.reason in _PASSING or fault.status in _PASSING_STATUS
        case _:
            return False


def is_vendor_error(error: BaseException) -> bool:
    """Whether it comes from Google's libraries or from the connection, and so is to be mapped."""
    import concurrent.futures

    import requests.exceptions
    from google.api_core.exceptions import GoogleAPIError
    from google.auth.exceptions import GoogleAuthError

    kinds = (GoogleAPIError, GoogleAuthError, requests.exceptions.RequestException, ConnectionError)
    return isinstance(error, (*kinds, concurrent.futures.TimeoutError))


def mapped(error: BaseException, *, name: str, tries: int = 1) -> BmsqlError:
    """The error of the tree for one of Google's. name: of the backend; tries: how often it was tried."""
    from google.api_core.exceptions import GoogleAPICallError
    from google.auth.exceptions import GoogleAuthError, TransportError

    if isinstance(error, GoogleAuthError) and not isinstance(error, TransportError):
        return CredentialsError(f"Google's credentials for {name} were refused: {_line(error)}", remedy=_LOG_IN)
    if not isinstance(error, GoogleAPICallError):
        times = f" in {tries} tries" if tries > 1 else ""
        return BackendUnavailableError(
            f"{name} could not be reached{times}: {_line(error)}", remedy="Check the network, then try again."
        )
    fault = fault_of(error)
    if fault.status == 401:
        return CredentialsError(f"BigQuery refused the credentials for {name}: {fault.message}", remedy=_LOG_IN)
    if is_passing(error):
        times = f" after {tries} tries" if tries > 1 else ""
        return BackendUnavailableError(f"BigQuery failed{times}: {fault.message}", remedy="Try again later.")
    return _lasting(fault, name)


def _lasting(fault: Fault, name: str) -> BackendError:
    message = fault.message
    match fault.reason:
        case "bytesBilledLimitExceeded":
            return BudgetExceededError(
                message, remedy="Raise the limit `bytes_billed`, or ask for fewer columns or a partition."
            )
        case "quotaExceeded" | "rateLimitExceeded":
            return QuotaExceededError(
                f"A quota of BigQuery is used up: {message}",
                remedy="Wait until it is renewed, or raise it: https://cloud.google.com/bigquery/quotas.",
            )
        case "billingNotEnabled" | "billingTierLimitExceeded":
            return PermissionDeniedError(
                f"The project cannot be billed: {message}",
                remedy="Enable billing for it, or name another project as billing_project.",
            )
        case "stopped":
            return QueryCancelledError(f"The job was stopped on the server: {message}")
        case "timeout":
            return QueryTimeoutError(f"BigQuery ended the job: {message}", remedy="Raise the limit `seconds`.")
        case "responseTooLarge":
            return ExecutionError(message, remedy="Ask for fewer rows or columns.")
    if fault.status == 403:
        return _denied(message)
    if fault.status == 404 and "not found: dataset" in message.lower():
        return BackendUnavailableError(
            f"{name}: {message}",
            remedy="Check the names of project and dataset, and the location; a dataset must be reached where it lies.",
        )
    return ExecutionError(message)


def _denied(message: str) -> PermissionDeniedError:
    found = _PERMISSION.search(message)
    permission = found.group() if found else ""
    if not permission and "access denied" in message.lower() and "table" in message.lower():
        permission = "bigquery.tables.getData"
    return PermissionDeniedError(message, permission=permission, remedy=_REMEDIES.get(permission, _GRANT))


def _line(error: BaseException) -> str:
    """What went wrong in one line: of a failed connection the operating system's words."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return " ".join(str(error).split())[:500] or type(error).__name__
