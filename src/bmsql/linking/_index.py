"""The value index: a lexicon with the fingerprint of the data it came from, kept in a file."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from bmsql.errors import ConfigurationError, KnowledgeBaseError
from bmsql.linking._lexicon import Concepts, Lexicon, Names
from bmsql.linking._source import Reader, ValueSource
from bmsql.linking._tables import read_names
from bmsql.semantic import SemanticModel

FORMAT = 1
"""Counted up whenever an index that was built before must be built anew."""


@dataclass(frozen=True)
class ValueIndex:
    """The values of a knowledge base under the names people give them.

    fingerprint: of the data it was built from; model_hash: of the semantic model and our own names.
    Needs no backend once it is built.
    """

    fingerprint: str
    model_hash: str
    lexicon: Lexicon

    @property
    def truncated(self) -> tuple[str, ...]:
        """Columns, as `table.column`, of which only a part was read."""
        return tuple(self.lexicon.truncated)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word of every name, in normal form."""
        return frozenset(word for key in self.lexicon.names for word in key.split())

    @classmethod
    def build(
        cls, backend: ValueSource, model: SemanticModel, *, names: str | os.PathLike[str] | None = None
    ) -> ValueIndex:
        """Read the values of every linkable column, one query a column group.

        names: a tab-separated file of the user's own names, with the columns `for` (an entity, or
        an alias table such as `diseases`), `name` (as it is known already) and `alias`.
        Raises ConfigurationError for that file, and what the backend raises when it cannot be read.
        """
        from bmsql.linking._build import build_lexicon

        text = _read_names(names)
        own = read_names(text, file=str(names)) if names is not None else ()
        lexicon = build_lexicon(Reader(backend, model, own), model)
        return cls(backend.fingerprint(), model_hash(model, text), lexicon)

    @classmethod
    def load_or_build(
        cls,
        backend: ValueSource,
        model: SemanticModel,
        cache_dir: str | os.PathLike[str],
        *,
        names: str | os.PathLike[str] | None = None,
    ) -> ValueIndex:
        """The index from `cache_dir`, or a new one that is kept there; `names` as in `build`.

        A damaged or outdated file is built anew. Raises OSError when the directory cannot be written.
        """
        path = cls.path_in(cache_dir, backend.fingerprint(), model, names=names)
        if path.exists():
            try:
                return cls.load(path)
            except KnowledgeBaseError:
                path.unlink(missing_ok=True)
        index = cls.build(backend, model, names=names)
        index.save(path)
        return index

    @staticmethod
    def path_in(
        cache_dir: str | os.PathLike[str],
        fingerprint: str,
        model: SemanticModel,
        *,
        names: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Where the index of these data, this model and these names is kept."""
        digest = model_hash(model, _read_names(names))
        digest = hashlib.sha256(f"{FORMAT}\n{fingerprint}\n{digest}".encode()).hexdigest()[:24]
        return Path(cache_dir) / f"values-{digest}.json"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file, whole or not at all. Raises OSError."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(_to_data(self), ensure_ascii=False, separators=(",", ":"))
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ValueIndex:
        """Read an index. Raises KnowledgeBaseError when it is damaged or of another format."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise KnowledgeBaseError(
                    f"The value index {path} has format {data['format']}, not {FORMAT}.", remedy="Build it anew."
                )
            return _from_data(data)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as e:
            raise KnowledgeBaseError(f"The value index {path} cannot be read: {e}.", remedy="Build it anew.") from e


def _read_names(path: str | os.PathLike[str] | None) -> str:
    if path is None:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigurationError(
            f"The file of names {path} cannot be read: {e}.", remedy="Give a UTF-8 file with tab-separated columns."
        ) from e


def model_hash(model: SemanticModel, names: str = "") -> str:
    """A digest of what the index takes from the semantic model and from our own and the user's names."""
    digest = hashlib.sha256(names.encode())
    parts = (model.entities, model.tables, model.attributes)
    for part in parts:
        for name, value in part.items():
            digest.update(f"{name}={value.model_dump_json()}\n".encode())
    folder = files("bmsql.data") / "aliases"
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.startswith("extra_"):
            digest.update(item.read_bytes())
    return digest.hexdigest()


def _to_data(index: ValueIndex) -> dict[str, Any]:
    lexicon = index.lexicon
    return {
        "format": FORMAT,
        "fingerprint": index.fingerprint,
        "model": index.model_hash,
        "concepts": lexicon.concepts.to_data(),
        "names": lexicon.names.to_data(),
        "symbols": lexicon.symbols.to_data(),
        "texts": lexicon.texts,
        "endings": lexicon.endings,
        "truncated": lexicon.truncated,
    }


def _from_data(data: dict[str, Any]) -> ValueIndex:
    lexicon = Lexicon(
        concepts=Concepts.from_data(data["concepts"]),
        names=Names.from_data(data["names"]),
        symbols=Names.from_data(data["symbols"]),
        texts=data["texts"],
        endings=data["endings"],
        truncated=data["truncated"],
    )
    return ValueIndex(data["fingerprint"], data["model"], lexicon)
