"""The options of an agent: arguments first, then environment variables, then defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bmsql.errors import ConfigurationError
from bmsql.types import Limits

T = TypeVar("T")
PREFIX = "BMSQL_"
MAX_PASSES = 10
MAX_CANDIDATES = 20
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
# Each limit has a variable of its own, so that one can be set without the others.
LIMIT_VARIABLES = {name: f"{PREFIX}LIMIT_{name.upper()}" for name in Limits.model_fields}
# Variables of the project's own tests.
_TESTS = f"{PREFIX}TEST_"
# Those that the agent reads, and those of the command and the cache.
VARIABLES = (
    *(f"{PREFIX}{name}" for name in ("MODEL", "BACKEND", "SEMANTIC_MODEL", "PROFILE", "MAX_PASSES")),
    *LIMIT_VARIABLES.values(),
    *(f"{PREFIX}{name}" for name in ("SEND_ROWS", "RULES", "NAMES", "CANDIDATES", "EXAMPLES", "CACHE")),
    *(f"{PREFIX}{name}" for name in ("QUESTION", "CACHE_DIR")),
)


@dataclass(frozen=True)
class Settings:
    """What the options came to. `origin` says, by option, where each value is from."""

    model: Any
    backend: Any
    semantic_model: Any
    profile: str
    max_passes: int
    limits: Limits
    send_rows: bool
    rules: Any
    candidates: int
    examples: Any
    embeddings: Any
    cache: Any
    chat: Any
    names: Any
    origin: dict[str, str]


def read_settings(
    *,
    model: Any = None,
    backend: Any = None,
    semantic_model: Any = None,
    profile: str | None = None,
    max_passes: int | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    send_rows: bool | None = None,
    rules: Any = None,
    candidates: int | None = None,
    examples: Any = None,
    embeddings: Any = None,
    cache: Any = None,
    chat: Any = None,
    names: Any = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings that the given options make with the environment; None means not given.

    Raises ConfigurationError, naming the option or variable and the values it may have.
    """
    env = os.environ if environment is None else environment
    origin: dict[str, str] = {}

    def pick(name: str, given: T | None, default: T, read: Callable[[str, str], T]) -> T:
        if given is not None:
            origin[name] = "argument"
            return given
        variable = PREFIX + name.upper()
        text = env.get(variable, "").strip()
        if text:
            origin[name] = variable
            return read(text, variable)
        origin[name] = "default"
        return default

    return Settings(
        model=pick("model", model, None, _text),
        backend=pick("backend", backend, None, _text),
        semantic_model=_not_empty("semantic_model", pick("semantic_model", semantic_model, None, _text)),
        profile=_profile(pick("profile", profile, "strict", _text), origin),
        max_passes=_passes(pick("max_passes", max_passes, 1, _integer), origin),
        limits=_limits(limits, env, origin),
        send_rows=_boolean(pick("send_rows", send_rows, True, _switch), origin),
        rules=_not_empty("rules", pick("rules", rules, None, _text)),
        candidates=_candidates(pick("candidates", candidates, 1, _integer), origin),
        examples=_path("examples", pick("examples", examples, None, _text)),
        embeddings=embeddings,
        cache=_path("cache", pick("cache", cache, None, _text)),
        chat=chat,
        names=_path("names", pick("names", names, None, _text)),
        origin=origin,
    )


def _named(name: str, origin: Mapping[str, str]) -> str:
    source = origin[name]
    return source if source.startswith(PREFIX) else f"{name}="


def _text(text: str, variable: str) -> str:
    return text


def _integer(text: str, variable: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ConfigurationError(
            f"{variable} is {text!r}, which is no whole number.", remedy="Give a number."
        ) from error


def _switch(text: str, variable: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ConfigurationError(f"{variable} is {text!r}.", remedy=f"Use one of: {', '.join((*_TRUE, *_FALSE))}.")


def _boolean(value: Any, origin: Mapping[str, str]) -> bool:
    if not isinstance(value, bool):
        raise ConfigurationError(f"{_named('send_rows', origin)} is {value!r}.", remedy="Use True or False.")
    return value


def _not_empty(name: str, value: Any) -> Any:
    if isinstance(value, str) and not value.strip():
        raise ConfigurationError(
            f"{name}= is an empty text.", remedy="Give the path of a YAML file, or leave it out for the shipped one."
        )
    return value


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that begin with `BMSQL_` and are none of ours, each with the nearest that is, or ""."""
    unknown = sorted(
        name
        for name in environment
        if name.startswith(PREFIX) and not name.startswith(_TESTS) and name not in VARIABLES
    )
    return {name: next(iter(get_close_matches(name, VARIABLES, n=1, cutoff=0.75)), "") for name in unknown}


def _profile(profile: str, origin: Mapping[str, str]) -> str:
    from bmsql.conventions import PROFILES

    if profile not in PROFILES:
        raise ConfigurationError(
            f"{_named('profile', origin)} is {profile!r}, which is no profile.",
            remedy=f"Use one of: {', '.join(PROFILES)}.",
        )
    return profile


def _passes(passes: Any, origin: Mapping[str, str]) -> int:
    if isinstance(passes, bool) or not isinstance(passes, int) or not 1 <= passes <= MAX_PASSES:
        raise ConfigurationError(
            f"{_named('max_passes', origin)} is {passes!r}.", remedy=f"Use a whole number from 1 to {MAX_PASSES}."
        )
    return passes


def _candidates(count: Any, origin: Mapping[str, str]) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_CANDIDATES:
        raise ConfigurationError(
            f"{_named('candidates', origin)} is {count!r}.", remedy=f"Use a whole number from 1 to {MAX_CANDIDATES}."
        )
    return count


def _path(name: str, value: Any) -> Path | None:
    if value is None or (isinstance(value, str | Path) and str(value).strip()):
        return None if value is None else Path(value).expanduser()
    raise ConfigurationError(f"{name}= is {value!r}.", remedy="Give the path of a file, or leave it out.")


def _limits(given: Limits | Mapping[str, Any] | None, env: Mapping[str, str], origin: dict[str, str]) -> Limits:
    if isinstance(given, Limits):
        origin["limits"] = "argument"
        return given
    if given is not None and not isinstance(given, Mapping):
        raise ConfigurationError(
            f"limits= is {given!r}.", remedy=f"Use a Limits, or a mapping of: {', '.join(Limits.model_fields)}."
        )
    named = {name: env[variable] for name, variable in LIMIT_VARIABLES.items() if env.get(variable, "").strip()}
    values: dict[str, Any] = {**named, **(given or {})}
    sources = [LIMIT_VARIABLES[name] for name in named if name not in (given or {})]
    origin["limits"] = ", ".join((*(("argument",) if given else ()), *sources)) or "default"
    try:
        return Limits.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "limits"
        from_env = name in named and name not in (given or {})
        where = LIMIT_VARIABLES[name] if from_env else f"limits['{name}']"
        raise ConfigurationError(
            f"{where} is {values.get(name)!r}: {first['msg'].lower()}.",
            remedy=f"Limits are positive numbers within bounds: {', '.join(Limits.model_fields)}.",
        ) from error
