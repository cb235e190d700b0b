"""A client of BigQuery: from the usual ways of Google, a file, or for an emulator."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bmsql._version import __version__
from bmsql.errors import ConfigurationError, CredentialsError, MissingDependencyError

if TYPE_CHECKING:
    from google.cloud.bigquery import Client

SCOPES = ("https://www.googleapis.com/auth/bigquery", "https://www.googleapis.com/auth/cloud-platform")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_REMEDY = (
    "Run `gcloud auth application-default login`, or give a service-account file: credentials=/path/key.json, or "
    "GOOGLE_APPLICATION_CREDENTIALS."
)


def require_package() -> None:
    """Raise MissingDependencyError when google-cloud-bigquery is not installed."""
    try:
        import google.cloud.bigquery  # noqa: F401
    except ImportError as e:
        raise MissingDependencyError(
            "google-cloud-bigquery is not installed.", remedy="Install it: pip install 'bmsql[bigquery]'."
        ) from e


def make_client(*, project: str, credentials: Any = None, location: str = "", endpoint: str = "") -> Client:
    """A client whose jobs are billed to `project`.

    credentials: None for the application default ones, the path of a credentials file, or credentials of
    google-auth. endpoint: another address than BigQuery's own; one on this machine, such as an
    emulator, needs no credentials.

    Raises CredentialsError without usable credentials, ConfigurationError for an unusable endpoint,
    MissingDependencyError.
    """
    require_package()
    from google.api_core.client_info import ClientInfo
    from google.cloud.bigquery import Client

    local = _check_endpoint(endpoint)
    if credentials is None and local:
        from google.auth.credentials import AnonymousCredentials

        credentials = AnonymousCredentials()  # type: ignore[no-untyped-call]
    elif credentials is None:
        credentials = default_credentials()
    elif isinstance(credentials, str | os.PathLike):
        credentials = file_credentials(Path(credentials))
    return Client(
        project=project,
        credentials=credentials,
        location=location or None,
        client_options={"api_endpoint": endpoint} if endpoint else None,
        client_info=ClientInfo(user_agent=f"bmsql/{__version__}"),  # type: ignore[no-untyped-call]
    )


def default_credentials() -> Any:
    """Google's application default credentials. Raises CredentialsError when there are none."""
    import google.auth
    from google.auth.exceptions import GoogleAuthError

    try:
        credentials, _ = google.auth.default(scopes=SCOPES)
    except (GoogleAuthError, OSError, ValueError) as e:
        raise CredentialsError(
            f"There are no usable Google credentials: {str(e).splitlines()[0] if str(e) else type(e).__name__}",
            remedy=_REMEDY,
        ) from e
    return credentials


def credentials_found() -> str:
    """Which credentials would be used, without reading or sending any: for a person to read."""
    named = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "")
    if named:
        state = "" if Path(named).expanduser().is_file() else ", which does not exist"
        return f"the file named by GOOGLE_APPLICATION_CREDENTIALS{state}"
    folder = os.environ.get("CLOUDSDK_CONFIG") or (
        Path(os.environ["APPDATA"], "gcloud") if os.environ.get("APPDATA") else Path.home() / ".config" / "gcloud"
    )
    if Path(folder, "application_default_credentials.json").is_file():
        return "application default credentials of gcloud"
    return "none found (on Google Cloud, the machine's own account would be tried)"


def file_credentials(path: Path) -> Any:
    """Credentials of a file: a service account's key, or another kind that google-auth reads.

    Raises CredentialsError when it cannot be read; the message never holds its content.
    """
    import google.auth
    from google.auth.exceptions import GoogleAuthError

    path = path.expanduser()
    try:
        kind = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(kind, dict) or "type" not in kind:
            raise CredentialsError(
                f"{path} holds no Google credentials.", remedy="Give the JSON file of a service account's key."
            )
        credentials, _ = google.auth.load_credentials_from_file(str(path), scopes=SCOPES)  # type: ignore[no-untyped-call]
    except OSError as e:
        raise CredentialsError(
            f"The credentials file {path} cannot be read: {e.strerror or e}.", remedy="Check the path."
        ) from e
    except (GoogleAuthError, ValueError, KeyError) as e:
        raise CredentialsError(
            f"{path} holds no usable Google credentials ({type(e).__name__}).",
            remedy="Give the JSON file of a service account's key, as Google made it.",
        ) from e
    return credentials


def _check_endpoint(endpoint: str) -> bool:
    """Whether the endpoint is on this machine."""
    if not endpoint:
        return False
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"endpoint is {endpoint!r}.", remedy="Give an address such as http://127.0.0.1:9050.")
    local = parts.hostname in _LOOPBACK
    if parts.scheme == "http" and not local:
        raise ConfigurationError(
            f"endpoint is {endpoint!r}: credentials would travel unencrypted.", remedy="Use https."
        )
    return local
