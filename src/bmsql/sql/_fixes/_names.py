"""Repairs of names: types and functions of other systems, quotes around identifiers."""

from __future__ import annotations

from bmsql.sql._fixes._base import Repair, arguments, find_word, piece, replace, text, upper
from bmsql.sql._parts import PARTS
from bmsql.sql._reserved import RESERVED
from bmsql.sql._source import Source
from bmsql.types import Catalog

TYPE_NAMES = {
    **dict.fromkeys(("VARCHAR", "NVARCHAR", "CHAR", "NCHAR", "TEXT", "VARCHAR2", "CHARACTER", "BPCHAR"), "STRING"),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL", "FLOAT4", "FLOAT8"), "FLOAT64"),
    **dict.fromkeys(("INT2", "INT4", "INT8", "LONG", "SIGNED"), "INT64"),
    **dict.fromkeys(("BLOB", "BYTEA", "VARBINARY"), "BYTES"),
    "TIMESTAMPTZ": "TIMESTAMP",
}
# Functions that mean the same under another name: old name -> new name and argument counts.
_RENAMED: dict[str, tuple[str, tuple[int, ...]]] = {
    "LEN": ("LENGTH", (1,)),
    "UCASE": ("UPPER", (1,)),
    "LCASE": ("LOWER", (1,)),
    "NVL": ("IFNULL", (2,)),
    "ISNULL": ("IFNULL", (2,)),
    "IIF": ("IF", (3,)),
    "NOW": ("CURRENT_TIMESTAMP", (0,)),
    "RANDOM": ("RAND", (0,)),
    "REGEXP_LIKE": ("REGEXP_CONTAINS", (2,)),
    "TRY_CAST": ("SAFE_CAST", (1,)),
    "STDEV": ("STDDEV", (1,)),
    "STDEVP": ("STDDEV_POP", (1,)),
    "STARTSWITH": ("STARTS_WITH", (2,)),
    "ENDSWITH": ("ENDS_WITH", (2,)),
    "BOOL_AND": ("LOGICAL_AND", (1,)),
    "BOOL_OR": ("LOGICAL_OR", (1,)),
    "EVERY": ("LOGICAL_AND", (1,)),
    "COUNT_IF": ("COUNTIF", (1,)),
    "ARRAY_SIZE": ("ARRAY_LENGTH", (1,)),
    "CARDINALITY": ("ARRAY_LENGTH", (1,)),
    "APPROX_DISTINCT": ("APPROX_COUNT_DISTINCT", (1,)),
    "STRING_SPLIT": ("SPLIT", (2,)),
}
_SWAPPED = {"CHARINDEX": "STRPOS", "LOCATE": "STRPOS"}
_EXTRACTED = ("YEAR", "MONTH", "DAY", "QUARTER")
_COLUMN_PLACES = frozenset(("SELECT", "DISTINCT", "WHERE", "AND", "OR", "ON", "BY", "HAVING", "NOT", "WHEN", "QUALIFY"))


def type_names(source: Source, catalog: Catalog) -> list[Repair]:
    """`CAST(x AS VARCHAR(20))` -> `CAST(x AS STRING)`."""
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        if token.upper not in ("CAST", "SAFE_CAST", "TRY_CAST") or text(source, index + 1) != "(":
            continue
        closing = source.partners.get(index + 1)
        spans = arguments(source, index + 1)
        if closing is None or not spans:
            continue
        at = find_word(source, "AS", index + 2, closing)
        if at is None:
            continue
        new = TYPE_NAMES.get(upper(source, at + 1))
        if new is not None:
            repairs.append(
                replace(source, at + 1, closing - 1, new, "type-name", f"The type is called {new} in BigQuery.")
            )
    return repairs


def renamed_functions(source: Source, catalog: Catalog) -> list[Repair]:
    """`LEN(x)` -> `LENGTH(x)`, and others that differ in name alone."""
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        known = _RENAMED.get(token.upper)
        if known is None or text(source, index + 1) != "(" or text(source, index - 1) == ".":
            continue
        given = arguments(source, index + 1)
        if given is not None and len(given) in known[1]:
            repairs.append(
                replace(
                    source, index, index, known[0], "function-name", f"{token.upper} is called {known[0]} in BigQuery."
                )
            )
    return repairs


def rearranged_functions(source: Source, catalog: Catalog) -> list[Repair]:
    """`CHARINDEX(a, b)` -> `STRPOS(b, a)`; `YEAR(d)` -> `EXTRACT(YEAR FROM d)`.

    Also `DATE_TRUNC('month', d)` -> `DATE_TRUNC(d, MONTH)`. One a round, because calls may stand in one another.
    """
    for index, token in enumerate(source.tokens):
        if token.kind != "word" or text(source, index + 1) != "(" or text(source, index - 1) == ".":
            continue
        given = arguments(source, index + 1)
        if not given:
            continue
        pieces = [piece(source, first, last) for first, last in given]
        name, after = token.upper, ""
        if name in _SWAPPED and len(given) == 2:
            after = f"{_SWAPPED[name]}({pieces[1]}, {pieces[0]})"
        elif name in ("DATE_TRUNC", "TIMESTAMP_TRUNC", "DATETIME_TRUNC") and len(given) == 2:
            part = pieces[0][1:-1].upper()
            if pieces[0][0] in "'\"" and part in PARTS:
                after = f"{name}({pieces[1]}, {part})"
        elif name in _EXTRACTED and len(given) == 1:
            after = f"EXTRACT({name} FROM {pieces[0]})"
        if after:
            closing = source.partners[index + 1]
            return [
                replace(
                    source,
                    index,
                    closing,
                    after,
                    "function-form",
                    f"{name} is written {after.partition('(')[0]}(...) this way in BigQuery.",
                )
            ]
    return []


def reserved_alias(source: Source, catalog: Catalog) -> list[Repair]:
    """``AS group`` -> ``AS `group` ``."""
    repairs: list[Repair] = []
    casts = _cast_interiors(source)
    for index, token in enumerate(source.tokens):
        if token.upper != "AS" or index == 0:
            continue
        word = upper(source, index + 1)
        if (
            word not in RESERVED
            or word in ("SELECT", "WITH")
            or text(source, index + 2) == "("
            or any(a < index < b for a, b in casts)
        ):
            continue
        if upper(source, index - 1) == "SELECT" and word == "STRUCT":
            continue
        name = text(source, index + 1)
        repairs.append(
            replace(
                source,
                index + 1,
                index + 1,
                f"`{name}`",
                "reserved-alias",
                f"{word} is a reserved word, so the alias is quoted.",
            )
        )
    return repairs


def _cast_interiors(source: Source) -> list[tuple[int, int]]:
    return [
        (index + 1, source.partners[index + 1])
        for index, token in enumerate(source.tokens)
        if token.upper in ("CAST", "SAFE_CAST", "TRY_CAST") and (index + 1) in source.partners
    ]


def quoted_alias(source: Source, catalog: Catalog) -> list[Repair]:
    """`COUNT(*) AS "n rows"` -> ``COUNT(*) AS `n rows` ``."""
    repairs: list[Repair] = []
    lists = [_unpivot_list(source, index) for index, token in enumerate(source.tokens) if token.upper == "UNPIVOT"]
    for index, token in enumerate(source.tokens):
        if token.kind == "string" and upper(source, index - 1) == "AS" and token.text[0] in "'\"":
            if any(index in within for within in lists):
                continue  # UNPIVOT's IN (x AS 'label') gives values, not names.
            name = token.text.strip("'\"")
            if name and "`" not in name and "\\" not in name:
                repairs.append(_named(source, index, name, "An alias stands without quotes, or in backticks."))
    return repairs


def _unpivot_list(source: Source, index: int) -> range:
    """The tokens in the parentheses of the UNPIVOT that stands at `index`."""
    opening = index + (3 if upper(source, index + 2) == "NULLS" else 1)
    return range(opening, source.partners.get(opening, opening))


def quoted_identifier(source: Source, catalog: Catalog) -> list[Repair]:
    """`WHERE "Gene" = 'APOE'` -> `WHERE Gene = 'APOE'`: in BigQuery "Gene" is a text."""
    columns = {column.name for table in catalog.tables for column in table.columns}
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        if token.kind != "string" or token.text[0] != '"' or len(token.text) < 3:
            continue
        name = token.text[1:-1]
        if '"' in name or "\\" in name or "`" in name:
            continue
        after_dot = text(source, index - 1) == "." and source.tokens[index - 1].start == source.tokens[index - 2].end
        before_dot = text(source, index + 1) == "." and source.tokens[index + 1].start == token.end
        if after_dot or before_dot or (name in columns and _column_place(source, index)):
            repairs.append(_named(source, index, name, "A name in double quotes is a text in BigQuery."))
    return repairs


# Parentheses behind these hold a condition, which begins with a column.
_BEFORE_GROUP = frozenset(("WHERE", "AND", "OR", "NOT", "ON", "HAVING", "WHEN", "QUALIFY"))
_OF_COLUMNS = frozenset(("COUNT", "SUM", "AVG", "MIN", "MAX", "LOWER", "UPPER", "DISTINCT", "ROUND", "LENGTH"))


def _column_place(source: Source, index: int) -> bool:
    before = upper(source, index - 1)
    if before == "AND" and "BETWEEN" in (upper(source, index - 2), upper(source, index - 3)):
        return False
    if before in _COLUMN_PLACES or upper(source, index + 1) == "IS":
        return True
    sign = text(source, index - 1)
    if sign not in (",", "("):
        return False
    # Inside parentheses only a function's argument is a column; IN ("a", "b") holds texts.
    opening = index - 1
    while opening >= 0 and text(source, opening) != "(":
        if text(source, opening) == ")":
            opening = source.partners.get(opening, 0)
        opening -= 1
    if opening < 0:
        return True
    if upper(source, opening + 1) == "SELECT":
        return True
    if sign == "(" and upper(source, opening - 1) in _BEFORE_GROUP:
        return True
    return sign == "(" and upper(source, opening - 1) in _OF_COLUMNS


def _named(source: Source, index: int, name: str, message: str) -> Repair:
    plain = (
        name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit() and name.upper() not in RESERVED
    )
    return replace(source, index, index, name if plain else f"`{name}`", "quoted-name", message)
