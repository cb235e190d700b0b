"""Signatures of BigQuery's functions: counts, types, and the result of a call."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from rapidfuzz import process

from bmsql.sql import _function_list as data
from bmsql.sql._foreign_functions import ELSEWHERE
from bmsql.sql._types import ARRAY, PART, Type, coerces, common, parse_type

_VARIABLES = frozenset("TUNFIO")


class Parameter(NamedTuple):
    """One parameter of a signature; `type` may be or hold a variable."""

    type: Type
    optional: bool = False
    repeated: bool = False


class Signature(NamedTuple):
    """One way to call a function."""

    parameters: tuple[Parameter, ...]
    result: Type

    def accepts_count(self, n: int) -> bool:
        """Whether `n` arguments fit."""
        least = sum(not parameter.optional for parameter in self.parameters)
        if self.parameters and self.parameters[-1].repeated:
            return n >= least
        return least <= n <= len(self.parameters)

    def parameter(self, index: int) -> Parameter:
        """The parameter that argument `index` fills."""
        return self.parameters[min(index, len(self.parameters) - 1)]


class Function(NamedTuple):
    """A function with its signatures."""

    name: str
    kind: str
    signatures: tuple[Signature, ...]

    def usage(self) -> str:
        """How it is called, for messages: `ROUND(FLOAT64, [INT64])`."""
        seen: list[str] = []
        for signature in self.signatures:
            text = f"{self.name}({', '.join(_shown(p) for p in signature.parameters)})"
            if text not in seen:
                seen.append(text)
        return " or ".join(seen[:3])


_NAMES = {
    "N": "number",
    "F": "number",
    "I": "INT64",
    "T": "value",
    "U": "value",
    "O": "value",
    PART: "DATE_PART",
    "any": "value",
}


def _shown(parameter: Parameter) -> str:
    text = str(parameter.type)
    for short, long in _NAMES.items():
        if text == short:
            text = long
        text = text.replace(f"<{short}>", f"<{long}>")
    text += ", ..." if parameter.repeated else ""
    return f"[{text}]" if parameter.optional else text


@cache
def functions() -> dict[str, Function]:
    """All functions by upper-case name."""
    table: dict[str, Function] = {}
    for kind, listing in (("scalar", data.SCALAR), ("aggregate", data.AGGREGATE), ("window", data.WINDOW)):
        for line in listing.split("\n"):
            if line:
                name, signature = _parse_line(line)
                known = table.get(name)
                table[name] = Function(name, kind, (*(known.signatures if known else ()), signature))
    return table


def _parse_line(line: str) -> tuple[str, Signature]:
    call, _, result = line.partition(") -> ")
    name, _, parameters = call.partition("(")
    return name, Signature(tuple(_parse_parameter(p) for p in parameters.split(", ") if p), parse_type(result))


def _parse_parameter(text: str) -> Parameter:
    optional = text.startswith("[")
    text = text.strip("[]")
    repeated = text.endswith("...")
    return Parameter(parse_type(text.removesuffix("...")), optional, repeated)


def known(name: str) -> bool:
    """Whether BigQuery has this function (upper-case name, with its prefix: `NET.HOST`)."""
    return name in functions() or name in data.SYNTAX


def suggest(name: str) -> str:
    """What to write instead of an unknown function, or ""."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    found = process.extractOne(name, [*functions(), *sorted(data.SYNTAX)], score_cutoff=78)
    return f"{found[0]}(...)" if found else ""


def call(signature: Signature, arguments: list[Type], literals: list[bool]) -> Type | None:
    """The type of a call by this signature, or None when the arguments do not fit."""
    bound: dict[str, Type] = {}
    for index, argument in enumerate(arguments):
        if not _bind(signature.parameter(index).type, argument, literals[index], bound):
            return None
    return _resolve(signature.result, bound)


def _bind(wanted: Type, got: Type, literal: bool, bound: dict[str, Type]) -> bool:
    kind = wanted.kind
    if kind in ("any", PART) or got.unknown:
        return True
    if kind in _VARIABLES:
        return _bind_variable(kind, got, literal, bound)
    if kind == ARRAY and wanted.element is not None:
        if got.kind == "NULL":
            return True
        if got.kind != ARRAY:
            return False
        return got.element is None or _bind(wanted.element, got.element, False, bound)
    return coerces(got, wanted, literal)


def _bind_variable(variable: str, got: Type, literal: bool, bound: dict[str, Type]) -> bool:
    if got.kind == "NULL":
        return True
    if variable in "NFI" and (not got.numeric or (variable == "I" and got.kind == "FLOAT64")):
        return False
    if variable == "O" and got.kind in (ARRAY, "STRUCT", "JSON", "GEOGRAPHY"):
        return False
    if variable == "F" and got.kind == "INT64":
        got = Type("FLOAT64")
    before = bound.get(variable)
    if before is None:
        bound[variable] = got
        return True
    merged = common(before, got, False, literal)
    if merged is None:
        return False
    bound[variable] = merged
    return True


def _resolve(result: Type, bound: dict[str, Type]) -> Type:
    if result.kind in _VARIABLES:
        return bound.get(result.kind, Type("?"))
    if result.element is not None:
        return Type(ARRAY, element=_resolve(result.element, bound))
    if result.fields:
        return Type("STRUCT", fields=tuple((name, _resolve(field, bound)) for name, field in result.fields))
    return result
