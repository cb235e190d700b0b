"""BigQuery as a backend: `BigQueryBackend`, and what its URLs may say.

Google's library is imported when a backend is opened, not before; it comes with `bmsql[bigquery]`.
"""

from bmsql.backends.bigquery._backend import BigQueryBackend
from bmsql.backends.bigquery._client import credentials_found, make_client
from bmsql.backends.bigquery._errors import is_vendor_error
from bmsql.backends.bigquery._errors import mapped as error_of
from bmsql.backends.bigquery._labels import clean_labels
from bmsql.backends.bigquery._url import PARAMETERS, options_of

__all__ = [
    "PARAMETERS",
    "BigQueryBackend",
    "clean_labels",
    "credentials_found",
    "error_of",
    "is_vendor_error",
    "make_client",
    "options_of",
]
