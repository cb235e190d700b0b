"""An exact cache of replies: the same model, prompt, schema and version need no second call."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from bmsql.errors import ConfigurationError
from bmsql.reasoners.chat._messages import Reply, Request, Way
from bmsql.types import StepUsage

if TYPE_CHECKING:
    from bmsql.reasoners.chat._identity import Identity

log = logging.getLogger(__name__)
_SCHEMA = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
# Seconds to wait for another process that writes.
_WAIT = 10.0


class DraftCache:
    """Replies kept in one SQLite file. Safe in threads and processes.

    path: of the file, made when it is missing. version: of all that the prompt does not show but the
    reply depends on, such as the semantic model; another version finds nothing of this one.

    A file that cannot be read costs no question: a damaged one is set aside (`.damaged`) and begun
    anew, one that cannot be opened is left alone, and both are logged as warnings.
    Raises ConfigurationError when `path` cannot be a file at all.
    """

    def __init__(self, path: str | Path, *, version: str = "") -> None:
        self.path = Path(path).expanduser()
        self.version = version
        self._lock = threading.Lock()
        if self.path.is_dir():
            raise ConfigurationError(f"the cache '{self.path}' is a folder.", remedy="Name a file.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise ConfigurationError(
                f"the folder of the cache '{self.path}' cannot be made: {e}", remedy="Name another file."
            ) from e

    def key(self, identity: Identity, request: Request) -> str:
        """The hash under which a reply is kept."""
        parts: dict[str, Any] = {
            "model": list(identity),
            "version": self.version,
            "step": request.step,
            "messages": [[message.role, message.content] for message in request.messages],
            "schema": request.schema.model_json_schema() if request.schema else None,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "sample": request.sample,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode()).hexdigest()

    def get(self, identity: Identity, request: Request) -> Reply[Any] | None:
        """The reply that is kept for a request, with usage of no calls; None when there is none."""
        rows = self._run("SELECT reply FROM replies WHERE key = ?", (self.key(identity, request),))
        if not rows:
            return None
        try:
            kept = json.loads(rows[0][0])
            value: BaseModel | str = kept["value"]
            if request.schema is not None:
                value = request.schema.model_validate_json(json.dumps(value))
            return Reply(
                value, StepUsage(step=request.step), Way(kept["way"]), kept["finish"], kept["text"], cached=True
            )
        except (ValueError, KeyError, TypeError, ValidationError) as e:
            log.warning("an entry of the cache %s cannot be read, and is asked for anew: %s", self.path, e)
            return None

    def put(self, identity: Identity, request: Request, reply: Reply[Any]) -> None:
        """Keep a reply."""
        value = reply.value.model_dump(mode="json") if isinstance(reply.value, BaseModel) else reply.value
        kept = {"value": value, "way": reply.way.value, "finish": reply.finish, "text": reply.text}
        self._run(
            "INSERT OR REPLACE INTO replies VALUES (?, ?)",
            (self.key(identity, request), json.dumps(kept, ensure_ascii=False)),
        )

    def _run(self, sql: str, values: tuple[str, ...]) -> list[tuple[str]]:
        with self._lock:
            for again in (True, False):
                try:
                    with closing(sqlite3.connect(self.path, timeout=_WAIT)) as connection, connection:
                        connection.execute(_SCHEMA)
                        return connection.execute(sql, values).fetchall()
                except sqlite3.OperationalError as e:
                    log.warning("the cache %s cannot be used now: %s", self.path, e)
                    break
                except sqlite3.DatabaseError as e:
                    if not again or not self._set_aside(e):
                        break
        return []

    def _set_aside(self, error: sqlite3.DatabaseError) -> bool:
        aside = self.path.with_name(f"{self.path.name}.damaged")
        try:
            self.path.replace(aside)
        except OSError as e:
            log.warning("the cache %s is damaged (%s) and cannot be set aside: %s", self.path, error, e)
            return False
        log.warning("the cache %s is damaged (%s); it was set aside as %s", self.path, error, aside.name)
        return True
