"""The value index: a lexicon with the fingerprint of the data it came from, kept in a file."""

from __future__ import annotations

import hashlib
import os
import tempfile
from importlib.resources import files
from pathlib import Path

from bmsql.errors import ConfigurationError, KnowledgeBaseError
from bmsql.linking._arrow import ColumnFile, pack
from bmsql.linking._fetch import IndexCost, Values, cost, fetch, value_columns, values_of
from bmsql.linking._reader import Reader, plan
from bmsql.linking._reads import ValueSource
from bmsql.linking._stored import StoredLexicon, lexicon_columns
from bmsql.linking._tables import read_names
from bmsql.semantic import SemanticModel

FORMAT = 2
"""Counted up whenever an index that was built before must be built anew."""


class ValueIndex:
    """The values of a knowledge base under the names people give them.

    fingerprint: of the data it was built from; model_hash: of the semantic model and our own names;
    tables: the fingerprint of each table. Kept in an Arrow file that is looked into where it lies, so
    that neither opening it nor its memory grows with the number of values. Needs no backend once it
    is built.
    """

    def __init__(self, file: ColumnFile, name: str = "in memory") -> None:
        """Look into a file. Raises KnowledgeBaseError when it is damaged or of another format."""
        self.file = file
        about = file.about
        if about.get("format") != FORMAT:
            raise KnowledgeBaseError(
                f"The value index {name} has format {about.get('format')}, not {FORMAT}.", remedy="Build it anew."
            )
        try:
            self.fingerprint: str = about["fingerprint"]
            self.model_hash: str = about["model"]
            self.tables: dict[str, str] = about["tables"]
            self.lexicon = StoredLexicon(file)
        except (ValueError, LookupError, TypeError) as e:
            raise KnowledgeBaseError(f"The value index {name} cannot be read: {e}.", remedy="Build it anew.") from e

    @property
    def truncated(self) -> tuple[str, ...]:
        """Columns, as `table.column`, of which only a part was read."""
        return tuple(self.lexicon.truncated)

    @property
    def size(self) -> int:
        """Bytes of its file."""
        return len(self.file.data)

    @classmethod
    def build(
        cls,
        backend: ValueSource,
        model: SemanticModel,
        *,
        names: str | os.PathLike[str] | None = None,
        previous: ValueIndex | None = None,
        max_bytes: int | None = None,
    ) -> ValueIndex:
        """Read the values of every linkable column, one query a column group, and index them.

        names: a tab-separated file of the user's own names, with the columns `for` (an entity, or
        an alias table such as `diseases`), `name` (as it is known already) and `alias`. previous: an
        index of the same knowledge base, from which the values of unchanged tables are taken.
        max_bytes: what may be read where the backend meters bytes.

        Raises ConfigurationError for the file of names, BudgetExceededError when more would be read,
        and what the backend raises when it cannot be read.
        """
        from bmsql.linking._build import build_lexicon

        text = _read_names(names)
        own = read_names(text, file=str(names), kinds=_nameable(model)) if names is not None else ()
        catalog = backend.catalog()
        fingerprint = backend.fingerprint()
        values = fetch(backend, catalog, plan(model, catalog), _values_in(previous), max_bytes=max_bytes)
        lexicon = build_lexicon(Reader(model, catalog, values.rows, own), model)
        about, columns = lexicon_columns(lexicon)
        reads, cells = value_columns(values)
        about |= {
            "format": FORMAT,
            "fingerprint": fingerprint,
            "model": model_hash(model, text),
            "tables": values.fingerprints,
            "reads": reads,
            "truncated": values.truncated,
        }
        return cls(ColumnFile(pack(about, {**columns, "cells*": cells}), "in memory"))

    @classmethod
    def load_or_build(
        cls,
        backend: ValueSource,
        model: SemanticModel,
        cache_dir: str | os.PathLike[str],
        *,
        names: str | os.PathLike[str] | None = None,
        max_bytes: int | None = None,
    ) -> ValueIndex:
        """The index from `cache_dir`, or a new one that is kept there; arguments as in `build`.

        A damaged file is built anew; of an outdated one the values of unchanged tables are kept. Raises
        OSError when the directory cannot be written, before anything is read.
        """
        path = cls.path_in(cache_dir, backend.name, model, names=names)
        previous = cls._previous(path)
        if previous is not None and previous.fingerprint == backend.fingerprint():
            return previous
        _check_writable(path.parent)
        index = cls.build(backend, model, names=names, previous=previous, max_bytes=max_bytes)
        index.save(path)
        return cls.load(path)

    @classmethod
    def cost(
        cls,
        backend: ValueSource,
        model: SemanticModel,
        cache_dir: str | os.PathLike[str] | None = None,
        *,
        names: str | os.PathLike[str] | None = None,
    ) -> IndexCost:
        """What `load_or_build` would read, by dry runs alone; without `cache_dir`, what `build` would."""
        previous = (
            None if cache_dir is None else cls._previous(cls.path_in(cache_dir, backend.name, model, names=names))
        )
        if previous is not None and previous.fingerprint == backend.fingerprint():
            return IndexCost((), tuple(previous.tables))
        catalog = backend.catalog()
        return cost(backend, catalog, plan(model, catalog), _values_in(previous))

    @staticmethod
    def path_in(
        cache_dir: str | os.PathLike[str],
        backend: str,
        model: SemanticModel,
        *,
        names: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Where the index of the backend of this name, this model and these names is kept."""
        digest = model_hash(model, _read_names(names))
        digest = hashlib.sha256(f"{FORMAT}\n{backend}\n{digest}".encode()).hexdigest()[:24]
        return Path(cache_dir) / f"values-{digest}.arrow"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file, whole or not at all. Raises OSError."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self.file.data)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ValueIndex:
        """Open an index. Raises KnowledgeBaseError when it is damaged or of another format."""
        return cls(ColumnFile.open(Path(path)), str(path))

    @classmethod
    def _previous(cls, path: Path) -> ValueIndex | None:
        """The index at a path, None when there is none that can be used."""
        if not path.exists():
            return None
        try:
            return cls.load(path)
        except KnowledgeBaseError:
            return None


def _check_writable(folder: Path) -> None:
    """Raise OSError where no file can be written: building first might cost money twice."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def _values_in(index: ValueIndex | None) -> Values:
    """The values that an index was built from. Raises KnowledgeBaseError when they are damaged."""
    if index is None:
        return Values()
    try:
        return values_of(index.tables, index.file.about["reads"], index.file.texts("cells*"))
    except (LookupError, TypeError, ValueError) as e:
        raise KnowledgeBaseError(f"The values in an index cannot be read: {e}.", remedy="Delete its file.") from e


def _nameable(model: SemanticModel) -> set[str]:
    """The entities and alias tables for which a user may give names."""
    named = [(name, entity) for name, entity in model.entities.items() if entity.kind in {"symbol", "name", "term"}]
    return {name for name, _ in named} | {entity.aliases for _, entity in named if entity.aliases}


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
