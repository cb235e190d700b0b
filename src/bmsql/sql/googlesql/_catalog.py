"""The tables of a catalogue, and BigQuery's names, as the analyser takes them."""

from __future__ import annotations

from itertools import count
from typing import Any

from bmsql.sql._types import ARRAY, STRUCT, Type, parse_type
from bmsql.types import Catalog, TableInfo

# BigQuery's other names of types.
_TYPE_NAMES = {
    "INT": "INT64", "INTEGER": "INT64", "BIGINT": "INT64", "SMALLINT": "INT64", "TINYINT": "INT64", "BYTEINT": "INT64",
    "DECIMAL": "NUMERIC", "BIGDECIMAL": "BIGNUMERIC", "BOOLEAN": "BOOL",
}  # fmt: skip
# Functions that BigQuery has beyond the analyser's own: arguments, result, and whether it is an aggregate.
_FUNCTIONS = {
    "CONTAINS_SUBSTR": (("ANY", "STRING"), "BOOL", False),
    "SEARCH": (("ANY", "STRING"), "BOOL", False),
    "MAX_BY": (("ANY_1", "ANY_2"), "ANY_1", True),
    "MIN_BY": (("ANY_1", "ANY_2"), "ANY_1", True),
}


def catalog_proto(catalog: Catalog, language: Any) -> Any:
    """The catalogue as the analyser's message: each table under its full, half and short name."""
    from zetasql.wasi._pb2.zetasql.proto.simple_catalog_pb2 import SimpleCatalogProto

    root = SimpleCatalogProto(name="root")
    root.builtin_function_options.language_options.CopyFrom(language)
    numbers = count(1)
    project, dataset = root.catalog.add(name=catalog.project), root.catalog.add(name=catalog.dataset)
    inner = project.catalog.add(name=catalog.dataset)
    for table in catalog.tables:
        full, half = catalog.qualified(table.name), f"{catalog.dataset}.{table.name}"
        for holder, name in (
            (root, full), (root, half), (root, table.name), (project, half), (inner, table.name), (dataset, table.name),
        ):  # fmt: skip
            _add_table(holder, name, table, next(numbers))
    for name, kind in _TYPE_NAMES.items():
        named = root.named_type.add(name=name)
        _fill(named.type, Type(kind))
    for name, (arguments, result, aggregate) in _FUNCTIONS.items():
        _add_function(root, name, arguments, result, aggregate)
    return root


def _add_table(holder: Any, name: str, table: TableInfo, number: int) -> None:
    made = holder.table.add(name=name, serialization_id=number)
    for column in table.columns:
        added = made.column.add(name=column.name)
        _fill(added.type, parse_type(column.type))


def _fill(proto: Any, kind: Type) -> None:
    """Write a type into the analyser's message of one."""
    from zetasql.wasi._pb2.zetasql.public.type_pb2 import TypeKind

    name = {"FLOAT64": "DOUBLE"}.get(kind.kind, kind.kind)
    proto.type_kind = TypeKind.Value(f"TYPE_{name}")
    if kind.kind == ARRAY and kind.element is not None:
        _fill(proto.array_type.element_type, kind.element)
    if kind.kind == STRUCT:
        proto.struct_type.SetInParent()
        for field, inner in kind.fields:
            _fill(proto.struct_type.field.add(field_name=field).field_type, inner)


def _add_function(root: Any, name: str, arguments: tuple[str, ...], result: str, aggregate: bool) -> None:
    from zetasql.wasi._pb2.zetasql.public.function_pb2 import FunctionEnums

    function = root.custom_function.add(group="BigQuery")
    function.name_path.append(name)
    function.mode = FunctionEnums.AGGREGATE if aggregate else FunctionEnums.SCALAR
    signature = function.signature.add()
    for argument in arguments:
        _fill_argument(signature.argument.add(num_occurrences=1), argument)
    _fill_argument(signature.return_type, result)


def _fill_argument(proto: Any, kind: str) -> None:
    from zetasql.wasi._pb2.zetasql.public.function_pb2 import SignatureArgumentKind

    if kind.startswith("ANY"):
        proto.kind = SignatureArgumentKind.Value("ARG_TYPE_ARBITRARY" if kind == "ANY" else f"ARG_TYPE_{kind}")
    else:
        proto.kind = SignatureArgumentKind.Value("ARG_TYPE_FIXED")
        _fill(proto.type, Type(kind))
