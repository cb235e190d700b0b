"""The grammar of `bigquery://project/dataset?location=EU&billing_project=...`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote

from bmsql.errors import ConfigurationError

SCHEME = "bigquery://"
FORM = '"bigquery://project/dataset"'
# A project may belong to a domain, `example.com:name`.
_PROJECT = re.compile(r"(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{2,61}[a-z0-9]")
_DATASET = re.compile(r"\w{1,1024}", re.ASCII)


def options_of(url: str) -> dict[str, Any]:
    """The arguments of `BigQueryBackend` that a URL gives.

    Raises ConfigurationError for a wrong form, a parameter that is not known or given twice, or a
    value that cannot be read; it says which.
    """
    path, _, query = url[len(SCHEME) :].partition("?")
    parts = [unquote(part) for part in path.rstrip("/").split("/")]
    if len(parts) != 2 or not all(parts):
        raise ConfigurationError(
            f"{url.partition('?')[0]!r} names no BigQuery dataset.",
            remedy=f"Write {FORM}, with parameters after a question mark: {', '.join(PARAMETERS)}.",
        )
    options: dict[str, Any] = {"project": parts[0], "dataset": parts[1]}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in PARAMETERS:
            near = difflib.get_close_matches(name, PARAMETERS, n=1, cutoff=0.6)
            hint = f"Did you mean {near[0]}?" if near else f"The parameters are: {', '.join(PARAMETERS)}."
            raise ConfigurationError(f"bigquery:// has no parameter {name!r}.", remedy=hint)
        argument, read = PARAMETERS[name]
        if argument in options:
            raise ConfigurationError(f"The parameter {name} is given twice.", remedy="Give it once.")
        if not value.strip():
            raise ConfigurationError(f"The parameter {name} is empty.", remedy="Give a value, or leave it out.")
        options[argument] = read(value.strip(), name)
    return options


def check_project(project: object, what: str = "project") -> str:
    """A project's id. Raises ConfigurationError when it cannot be one."""
    if not isinstance(project, str) or not _PROJECT.fullmatch(project):
        raise ConfigurationError(
            f"{what} is {project!r}, which is no id of a Google Cloud project.",
            remedy="An id has 6 to 30 lower-case letters, digits and hyphens, such as my-project-123.",
        )
    return project


def check_dataset(dataset: object) -> str:
    """A dataset's name. Raises ConfigurationError when it cannot be one."""
    if not isinstance(dataset, str) or not _DATASET.fullmatch(dataset):
        raise ConfigurationError(
            f"dataset is {dataset!r}, which is no name of a dataset.", remedy="It has letters, digits and underscores."
        )
    return dataset


def _text(value: str, name: str) -> str:
    return value


def _names(value: str, name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _number(value: str, name: str) -> float:
    try:
        return float(value)
    except ValueError as e:
        raise ConfigurationError(f"The parameter {name} is {value!r}, no number.", remedy="Give a number.") from e


def _pairs(value: str, name: str) -> dict[str, str]:
    pairs = {}
    for part in _names(value, name):
        key, colon, label = part.partition(":")
        if not colon or not key.strip():
            raise ConfigurationError(
                f"The parameter {name} holds {part!r}.", remedy=f"Write {name}=key:value,other:value."
            )
        pairs[key.strip()] = label.strip()
    return pairs


PARAMETERS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "location": ("location", _text),
    "billing_project": ("billing_project", _text),
    "credentials": ("credentials", _text),
    "datasets": ("allowed_datasets", _names),
    "labels": ("labels", _pairs),
    "price_per_tib": ("price_per_tib", _number),
    "catalogue_cache_hours": ("catalogue_cache_hours", _number),
    "endpoint": ("endpoint", _text),
}
"""The parameters of a URL: by name, the argument they give and how its value is read."""
