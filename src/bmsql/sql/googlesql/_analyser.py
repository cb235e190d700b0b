"""Asking the analyser."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

from bmsql.sql._source import problem_at
from bmsql.sql.googlesql._catalog import catalog_proto
from bmsql.sql.googlesql._client import open_client
from bmsql.types import Catalog, Problem

_SERVICE = "ZetaSqlLocalService_"
_PLACE = re.compile(r"\s*\[at (\d+):(\d+)\]\s*$")


class Analyser:
    """GoogleSQL's analyser over one catalogue; one call at a time, in any thread.

    cache: the directory for the compiled module. About 120 MB, and 20 ms a query.
    Raises MissingDependencyError where the extra `bmsql[googlesql]` is not installed.
    """

    def __init__(self, catalog: Catalog, cache: Path) -> None:
        self._client = open_client(cache)
        self._lock = threading.Lock()
        language = self._language()
        self._options = self._analysis(language)
        self._catalog: int = self._registered(catalog, language)

    def problem(self, sql: str) -> Problem | None:
        """What the analyser has against `sql`, in its own words; None where it accepts it."""
        from zetasql.core.exceptions import ServerError
        from zetasql.wasi._pb2.zetasql.local_service.local_service_pb2 import AnalyzeRequest, AnalyzeResponse

        request = AnalyzeRequest(options=self._options, registered_catalog_id=self._catalog, sql_statement=sql)
        try:
            with self._lock:
                self._client.call_grpc_func(f"{_SERVICE}Analyze", request, AnalyzeResponse)
        except ServerError as e:
            return _as_problem(sql, str(e.message))
        return None

    def _language(self) -> Any:
        """BigQuery's language: every feature but other products' own."""
        from zetasql.wasi._pb2.zetasql.local_service.local_service_pb2 import LanguageOptionsRequest
        from zetasql.wasi._pb2.zetasql.proto.options_pb2 import LanguageOptionsProto
        from zetasql.wasi._pb2.zetasql.public.options_pb2 import PRODUCT_EXTERNAL, LanguageFeature

        request = LanguageOptionsRequest(maximum_features=True)
        language = self._client.call_grpc_func(f"{_SERVICE}GetLanguageOptions", request, LanguageOptionsProto)
        features = list(language.enabled_language_features)
        language.product_mode = PRODUCT_EXTERNAL
        language.ClearField("reserved_keywords")
        language.reserved_keywords.append("QUALIFY")
        language.ClearField("enabled_language_features")
        language.enabled_language_features.extend(
            feature for feature in features if "SPANNER" not in LanguageFeature.Name(feature)
        )
        return language

    def _analysis(self, language: Any) -> Any:
        from zetasql.wasi._pb2.zetasql.proto.options_pb2 import AnalyzerOptionsProto
        from zetasql.wasi._pb2.zetasql.public.options_pb2 import ERROR_MESSAGE_ONE_LINE

        options = AnalyzerOptionsProto(
            error_message_mode=ERROR_MESSAGE_ONE_LINE, allow_undeclared_parameters=True, default_timezone="UTC"
        )
        options.language_options.CopyFrom(language)
        return options

    def _registered(self, catalog: Catalog, language: Any) -> int:
        from zetasql.wasi._pb2.zetasql.local_service.local_service_pb2 import RegisterCatalogRequest, RegisterResponse

        request = RegisterCatalogRequest(simple_catalog=catalog_proto(catalog, language))
        answer = self._client.call_grpc_func(f"{_SERVICE}RegisterCatalog", request, RegisterResponse)
        return int(answer.registered_id)


def _as_problem(sql: str, message: str) -> Problem:
    place = _PLACE.search(message)
    said = _PLACE.sub("", message).rstrip(".")
    if place is None:
        return Problem(code="googlesql", message=f"GoogleSQL's analyser: {said}.")
    line, column = int(place[1]), int(place[2])
    lines = sql.split("\n")
    offset = sum(len(text) + 1 for text in lines[: line - 1]) + column - 1
    return problem_at(sql, "googlesql", f"GoogleSQL's analyser: {said}.", offset)
