"""From settings to the parts that an agent works with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql.agent._settings import Settings
from bmsql.backends import Backend, open_backend
from bmsql.conventions import RuleBook, load_rules
from bmsql.errors import BackendUnavailableError, ConfigurationError
from bmsql.graph import Budgets, Dependencies
from bmsql.reasoners import Reasoner
from bmsql.semantic import Column, SemanticModel, load_semantic_model
from bmsql.types import Catalog

if TYPE_CHECKING:
    from bmsql.linking import ValueIndex

OFFLINE = "offline"
UNASKED_BYTES = 100 * 1024**2
"""What an index of values may read without being asked for, where bytes are billed: less than a tenth of a cent."""


def open_parts(settings: Settings) -> Dependencies:
    """The reasoner, backend, semantic model and rules that `settings` name.

    Raises ConfigurationError, SemanticModelError, KnowledgeBaseError or BackendUnavailableError.
    """
    check_model(settings)
    rules = open_rules(settings)
    model = open_model(settings)
    backend = open_named_backend(settings)
    try:
        model = fitted(model, backend.catalog())
        reasoner = _reasoner(settings, model, backend, rules)
    except BaseException:
        if backend is not settings.backend:
            backend.close()
        raise
    return Dependencies(
        reasoner=reasoner,
        backend=backend,
        model=model,
        rules=rules,
        limits=settings.limits,
        budgets=Budgets(passes=settings.max_passes, candidates=settings.candidates),
        send_rows=settings.send_rows,
    )


def open_named_backend(settings: Settings) -> Backend:
    """The backend that the settings name; an error says which variable named it, if one did."""
    try:
        return open_backend(settings.backend, limits=settings.limits)
    except (ConfigurationError, BackendUnavailableError) as error:
        variable = settings.origin.get("backend", "")
        if not variable.startswith("BMSQL_"):
            raise
        error.message = f"{variable} is {settings.backend!r}: {error.message}"
        error.args = (error.message, error.remedy)
        raise


def check_model(settings: Settings) -> None:
    """Raise when the model is nothing that thinks."""
    model = settings.model
    if model is None or isinstance(model, Reasoner) or is_chat_model(model):
        return
    if not isinstance(model, str):
        raise ConfigurationError(
            f"model= is a {type(model).__name__}, which is no reasoner.",
            remedy='Use "offline", "provider:name", a LangChain chat model, or an object with the methods of '
            "bmsql.reasoners.Reasoner.",
        )
    if model.strip().lower() != OFFLINE and ":" not in model:
        origin = settings.origin.get("model", "argument")
        where = origin if origin.startswith("BMSQL_") else "model="
        raise ConfigurationError(
            f"{where} is {model!r}, which names no provider.",
            remedy='Use "offline" (the default), or "provider:name", such as "openai:NAME" or "google_genai:NAME".',
        )


def is_chat_model(model: Any) -> bool:
    """Whether something is a LangChain chat model; LangChain is not loaded to find out that nothing is."""
    if "langchain_core.language_models" not in sys.modules:
        return False
    from langchain_core.language_models import BaseChatModel

    return isinstance(model, BaseChatModel)


def open_model(settings: Settings) -> SemanticModel:
    """The semantic model that the settings name; the shipped one by default."""
    given = settings.semantic_model
    if isinstance(given, SemanticModel):
        return given
    if given is not None and not isinstance(given, str | Path):
        raise ConfigurationError(
            f"semantic_model= is a {type(given).__name__}.", remedy="Use the path of a YAML file, or a SemanticModel."
        )
    return load_semantic_model(given)


def open_rules(settings: Settings) -> RuleBook:
    """The rule book: a ready one, or the shipped rules changed by the rule files given."""
    given = settings.rules
    if isinstance(given, RuleBook):
        if settings.origin.get("profile") == "argument" and given.profile != settings.profile:
            raise ConfigurationError(
                f"profile= is {settings.profile!r}, but the rule book given as rules= has {given.profile!r}.",
                remedy="Leave profile= out, or load the rules with the profile wanted.",
            )
        return given
    if given is None:
        paths: tuple[str | Path, ...] = ()
    elif isinstance(given, str | Path):
        paths = (given,)
    elif isinstance(given, list | tuple) and all(isinstance(path, str | Path) for path in given):
        paths = tuple(given)
    else:
        raise ConfigurationError(
            f"rules= is a {type(given).__name__}.",
            remedy="Use a RuleBook, the path of a rule file, or a list of paths.",
        )
    return load_rules(*paths, profile=settings.profile)


def fitted(model: SemanticModel, catalog: Catalog) -> SemanticModel:
    """`model` under the catalogue's table names, with the columns of its optional tables taken from there.

    The model may write names with or without project and dataset. Raises ConfigurationError when the
    backend holds none of its tables.
    """
    model = _renamed(model, catalog)
    if not any(name in catalog.by_name for name in model.tables):
        raise ConfigurationError(
            f"the backend holds none of the tables of the semantic model '{model.name}'.",
            remedy="Write a semantic model for it: `bmsql schema --from BACKEND -o model.yaml`, with what you give "
            "as backend, then semantic_model='model.yaml'.",
        )
    tables: dict[str, Any] = dict(model.tables)
    for name, table in model.tables.items():
        found = catalog.by_name.get(name)
        if found is not None and not table.columns:
            columns = {column.name: Column(type=column.type, meaning=column.description) for column in found.columns}
            tables[name] = table.model_copy(update={"columns": columns})
    return model.with_tables(tables) if tables != model.tables else model


def _renamed(model: SemanticModel, catalog: Catalog) -> SemanticModel:
    """`model` with each table under the name that the catalogue has for it, in the order of the file."""
    names: dict[str, str] = {}
    for name in model.tables:
        found = _catalogued(name, catalog)
        names[name] = found if found and found not in names.values() else name
    if all(old == new for old, new in names.items()):
        return model
    return model.with_tables({names[name]: table for name, table in model.tables.items()})


def _catalogued(name: str, catalog: Catalog) -> str:
    """The catalogue's name for a table as a model writes it; a bare one may lie in any of its datasets."""
    *place, own = name.replace("`", "").rsplit(".", 2)
    project, dataset = (["", "", *place])[-2:]
    exact = catalog.find(own, dataset, project)
    if exact is not None:
        return exact.name
    elsewhere = [table.name for table in catalog.tables if not place and table.name.rpartition(".")[2] == own]
    return elsewhere[0] if len(elsewhere) == 1 else ""


def _reasoner(settings: Settings, model: SemanticModel, backend: Backend, rules: RuleBook) -> Reasoner:
    if isinstance(settings.model, Reasoner):
        return settings.model
    from bmsql.linking import Linker
    from bmsql.reasoners import ChatSettings, open_reasoner

    linker = Linker(model, _value_index(backend, model, settings.names))
    chat = ChatSettings(
        options=settings.chat, examples=settings.examples, embeddings=settings.embeddings, cache=settings.cache
    )
    try:
        return open_reasoner(
            settings.model, semantic_model=model, catalog=backend.catalog(), rules=rules, link=linker.link, chat=chat
        )
    except ConfigurationError as error:
        variable = settings.origin.get("model", "")
        if not variable.startswith("BMSQL_") or variable in error.message:
            raise
        error.message = f"{variable} is {settings.model!r}: {error.message}"
        error.args = (error.message, error.remedy)
        raise


def _value_index(backend: Backend, model: SemanticModel, names: str | Path | None) -> ValueIndex:
    from bmsql.backends import cache_directory
    from bmsql.linking import ValueIndex

    try:
        return ValueIndex.load_or_build(backend, model, cache_directory(), names=names, max_bytes=UNASKED_BYTES)
    except OSError:
        # A cache that cannot be written costs time, not the answer.
        return ValueIndex.build(backend, model, names=names, max_bytes=UNASKED_BYTES)
