"""The catalogue on disk, so that the next process need not look at hundreds of tables."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bmsql.backends._cache import cache_directory
from bmsql.backends.bigquery._catalog import Introspected
from bmsql.types import Catalog

FORMAT = 2
"""Counted up whenever what was kept before must be read anew."""

_log = logging.getLogger(__name__)


class CatalogCache:
    """One file per set of datasets and account; `hours` 0 keeps nothing.

    account: what tells accounts apart that may see different tables; it is hashed, never written.
    """

    def __init__(self, datasets: tuple[str, ...], account: str, hours: float) -> None:
        digest = hashlib.sha256("\n".join((str(FORMAT), account, *datasets)).encode()).hexdigest()[:24]
        self.path = cache_directory() / "bigquery" / f"catalogue-{digest}.json"
        self.hours = hours

    def load(self) -> Introspected | None:
        """What was kept, unless it is too old, absent or damaged."""
        if not self.hours:
            return None
        try:
            data: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
            age = time.time() - float(data["read_at"])
            if not 0 <= age < self.hours * 3600:
                return None
            catalog = Catalog.model_validate(data["catalog"])
            states = {str(name): str(text) for name, text in data["states"].items()}
            return Introspected(catalog, frozenset(data["records"]), states, str(data["location"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ValidationError) as e:
            _log.info("the catalogue kept in %s cannot be used and is read anew: %s", self.path, e)
            return None

    def save(self, found: Introspected) -> None:
        """Keep a catalogue, whole or not at all; where that cannot be done, the log says so."""
        if not self.hours:
            return
        data = {
            "read_at": time.time(),
            "catalog": found.catalog.model_dump(mode="json", exclude_defaults=True),
            "records": sorted(found.records),
            "states": found.states,
            "location": found.location,
        }
        temporary: Path | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name, suffix=".part")
            temporary = Path(name)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(data, file, ensure_ascii=False, separators=(",", ":"))
            temporary.replace(self.path)
        except OSError as e:
            _log.warning("the catalogue cannot be kept in %s: %s", self.path.parent, e)
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove what was kept."""
        self.path.unlink(missing_ok=True)
