"""What a run depends on, so that it can be repeated, and resumed only as what it was."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from bmsql._version import __version__
from bmsql.bench._files import invalid
from bmsql.bench._store import write_whole
from bmsql.bench._types import Manifest
from bmsql.errors import BenchmarkFileError, ConfigurationError

if TYPE_CHECKING:
    from bmsql.graph import Dependencies

# Libraries that decide what is asked, run and compared.
_LIBRARIES = (
    "duckdb",
    "google-cloud-bigquery",
    "langchain-core",
    "langchain-google-genai",
    "langchain-openai",
    "langgraph",
    "pydantic",
    "sqlglot",
)
_SHOWN = 6


def make_manifest(run: str, *, system: str, model: str, settings: Mapping[str, Any]) -> Manifest:
    """The manifest of a run that begins now; `settings` must be plain data."""
    return Manifest(
        run=run,
        system=system,
        model=model,
        # As JSON has it, so that it is the same when it is read again.
        settings=json.loads(json.dumps(dict(settings))),
        versions=versions(),
        started=dt.datetime.now(dt.UTC),
    )


def knowledge_settings(deps: Dependencies) -> dict[str, Any]:
    """What the parts that all systems share come to: knowledge base, semantic model, conventions, limits."""
    return {
        "backend": deps.backend.name,
        "fingerprint": deps.backend.fingerprint(),
        "tables": len(deps.backend.catalog().tables),
        "semantic_model": {"name": deps.model.name, "hash": fingerprint([deps.model])},
        "conventions": {"profile": deps.rules.profile, "hash": fingerprint(deps.rules)},
        "limits": deps.limits.model_dump(),
        "passes": deps.budgets.passes,
        "send_rows": deps.send_rows,
    }


def fingerprint(models: Iterable[BaseModel]) -> str:
    """A short hash of data models, the same for the same content."""
    digest = hashlib.sha256()
    for model in models:
        digest.update(model.model_dump_json().encode() + b"\n")
    return digest.hexdigest()[:16]


def file_hash(path: Path) -> str:
    """A short hash of a file's bytes. Raises BenchmarkFileError where it cannot be read."""
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()[:16]
    except OSError as error:
        raise BenchmarkFileError(
            f"cannot be read: {error.strerror or error}.", file=str(path), remedy="Give the path of a question file."
        ) from error


def versions() -> dict[str, str]:
    """The versions of bmsql, Python and the libraries that decide results."""
    found = {"bmsql": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a manifest, whole or not at all."""
    write_whole(path, manifest.model_dump_json(indent=2) + "\n")


def read_manifest(path: Path) -> Manifest:
    """The manifest of a run. Raises BenchmarkFileError."""
    try:
        return Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchmarkFileError(
            f"cannot be read: {error.strerror or error}.", file=str(path), remedy="Give the folder of a run."
        ) from error
    except (ValidationError, UnicodeDecodeError) as error:
        if isinstance(error, ValidationError):
            raise invalid(error, path, None) from error
        raise BenchmarkFileError("the file is not UTF-8 text.", file=str(path), remedy="Run anew.") from error


def check_same(stored: Manifest, wanted: Manifest, folder: Path) -> None:
    """Raise ConfigurationError, naming what differs, unless a run in `folder` can go on as `wanted`."""
    differing = [
        *_differences(
            {"system": stored.system, "model": stored.model}, {"system": wanted.system, "model": wanted.model}
        ),
        *_differences(stored.settings, wanted.settings),
        *_differences(stored.versions, wanted.versions, "versions."),
    ]
    if differing:
        more = f"; and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
        raise ConfigurationError(
            f"the run in {folder} was made with other settings: {'; '.join(differing[:_SHOWN])}{more}.",
            remedy="Give the same options to resume it, or another --out for a new run.",
        )


def _differences(stored: Mapping[str, Any], wanted: Mapping[str, Any], prefix: str = "") -> list[str]:
    found = []
    for name in dict.fromkeys((*stored, *wanted)):
        a, b = stored.get(name), wanted.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            found += _differences(a, b, f"{prefix}{name}.")
        elif a != b:
            found.append(f"{prefix}{name} was {_shown(a)}, now {_shown(b)}")
    return found


def _shown(value: Any) -> str:
    text = "not given" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
