"""`bmsql doctor`: what would be used and why, and what is wrong."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql._version import __version__
from bmsql.cli._console import Text, console, heading, write_json
from bmsql.cli._main import ANSWERED, FAILED
from bmsql.errors import BmsqlError, ConfigurationError

if TYPE_CHECKING:
    from bmsql.agent import Agent

PACKAGES = ("duckdb", "langgraph", "langchain-core", "pyarrow", "pydantic", "rich", "sqlglot", "typer")
EXTRAS = ("google-cloud-bigquery", "pandas", "sqlglotc")
# Variables that hold keys: shown by name, so that a misunderstanding about them can be seen.
KEYS = (
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GEMINI_API_KEY",
    "OPENAI_API_KEY",
)
_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_WHY = {"default": "the default", "argument": "as given on the command line"}


def examine(*, as_json: bool, **options: Any) -> int:
    """Examine the installation; the exit code is 1 when there is a problem."""
    problems: list[dict[str, str]] = []
    document: dict[str, Any] = {
        "bmsql": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in (*PACKAGES, *EXTRAS)},
        "variables": {name: _shown(name) for name in sorted(os.environ) if name.startswith("BMSQL_")},
        "keys_present": [name for name in KEYS if os.environ.get(name)],
        "bigquery": _bigquery(),
        "used": {},
        "cache": {},
        "trial": {},
        "problems": problems,
    }
    missing = [name for name in PACKAGES if document["packages"][name] is None]
    problems += [{"problem": f"{name} is not installed.", "remedy": "Reinstall bmsql."} for name in missing]
    problems += _try(problems, _unknown_variables) or []
    _try(problems, lambda: document.update(cache=_cache()))
    agent = _try(problems, lambda: _agent(options))
    if agent is not None:
        with agent:
            document["used"] = _used(agent)
            _try(problems, lambda: document.update(trial=_trial(agent)))
    if as_json:
        write_json(document)
    else:
        _show(document)
    return FAILED if problems else ANSWERED


def _unknown_variables() -> list[dict[str, str]]:
    """A problem for each variable that is none of ours: most often a slip of the pen."""
    from bmsql.agent import VARIABLES, unknown_variables

    found = []
    for name, near in unknown_variables(os.environ).items():
        remedy = f"Did you mean {near}?" if near else f"The variables are: {', '.join(VARIABLES)}."
        found.append({"problem": f"{name} is no variable of bmsql and has no effect.", "remedy": remedy})
    return found


def _try(problems: list[dict[str, str]], step: Callable[[], Any]) -> Any:
    """The result of `step`; a problem of ours is noted, with its remedy, and gives None."""
    try:
        return step()
    except BmsqlError as error:
        problems.append({"problem": error.message, "remedy": error.remedy})
    except ImportError as error:
        problems.append({"problem": f"A package is missing or broken: {error}.", "remedy": "Reinstall bmsql."})
    return None


def _agent(options: dict[str, Any]) -> Agent:
    from bmsql.agent import Agent

    return Agent(**options)


def _used(agent: Agent) -> dict[str, Any]:
    deps = agent.dependencies
    origin = agent.origin

    def why(option: str) -> str:
        source = origin.get(option, "default")
        return _WHY.get(source, f"set by {source}")

    return {
        "reasoner": {"name": deps.reasoner.name, "why": why("model")},
        "knowledge base": {"name": deps.backend.name, "why": why("backend")},
        "semantic model": {"name": deps.model.name, "why": why("semantic_model")},
        "profile": {"name": deps.rules.profile, "why": why("profile")},
        "limits": {"name": deps.limits.model_dump(mode="json"), "why": why("limits")},
        "passes": {"name": deps.budgets.passes, "why": why("max_passes")},
    }


def _bigquery() -> dict[str, Any]:
    """What can be said without reaching it."""
    from bmsql.backends.bigquery import credentials_found

    return {"package": _version("google-cloud-bigquery"), "credentials": credentials_found()}


def _cache() -> dict[str, Any]:
    from bmsql.backends import ensure_embedded

    begun = time.perf_counter()
    found = ensure_embedded()
    folder = Path(found.path).parent
    return {
        "directory": str(folder),
        "file": found.path.name,
        "megabytes": round(found.path.stat().st_size / 1e6, 1),
        "built_now": found.built,
        "seconds": round(time.perf_counter() - begun, 3),
        "note": found.note,
    }


def _trial(agent: Agent) -> dict[str, Any]:
    """Count the rows of the first table, through validation and execution."""
    deps = agent.dependencies
    held = deps.backend.catalog()
    table = next((name for name in deps.model.tables if name in held.by_name), None)
    if table is None:
        raise ConfigurationError(
            "the knowledge base holds no table of the semantic model.", remedy="`bmsql kb info` lists its tables."
        )
    sql = f"SELECT COUNT(*) AS n FROM `{held.qualified(table)}`"  # noqa: S608 - names from the catalogue, then validated
    begun = time.perf_counter()
    rows = deps.run_or_raise(sql).rows
    return {"sql": sql, "rows": rows[0][0], "seconds": round(time.perf_counter() - begun, 3)}


def _shown(variable: str) -> str:
    """The value of a variable, unless it could be a secret."""
    value = os.environ[variable]
    if any(word in variable for word in _SECRET_WORDS):
        return "(set, not shown)"
    scheme, separator, rest = value.partition("://")
    return f"{scheme}://...@{rest.rpartition('@')[2]}" if separator and "@" in rest else value


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _show(document: dict[str, Any]) -> None:
    to = console()
    to.print(Text(f"bmsql {document['bmsql']}, Python {document['python']}, {document['platform']}", style="bold"))
    packages = (
        f"{name} {found}" if found else f"{name} (not installed)" for name, found in document["packages"].items()
    )
    to.print(Text(", ".join(packages)))
    if document["used"]:
        heading(to, "What would be used")
        for name, item in document["used"].items():
            value = item["name"]
            shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            to.print(Text(f"  {name}: {shown} ({item['why']})"))
    heading(to, "Environment")
    for name, value in document["variables"].items():
        to.print(Text(f"  {name}={value}"))
    keys = ", ".join(document["keys_present"]) or "none"
    to.print(Text(f"  keys present (a key alone chooses no model): {keys}"))
    bigquery = document["bigquery"]
    package = bigquery["package"] or "package not installed: pip install 'bmsql[bigquery]'"
    to.print(Text(f"  BigQuery: {package}; credentials: {bigquery['credentials']}"))
    if document["cache"]:
        cache = document["cache"]
        heading(to, "Cache")
        built = "built just now" if cache["built_now"] else "found"
        to.print(
            Text(f"  {cache['directory']}: {cache['file']}, {cache['megabytes']} MB, {built}, {cache['seconds']} s")
        )
        if cache["note"]:
            to.print(Text(f"  {cache['note']}"))
    if document["trial"]:
        heading(to, "Trial query")
        trial = document["trial"]
        to.print(Text(f"  {trial['sql']}: {trial['rows']} in {trial['seconds']} s"))
    heading(to, f"{len(document['problems'])} problem(s)" if document["problems"] else "No problems found")
    for problem in document["problems"]:
        to.print(Text(f"- {problem['problem']}"))
        if problem["remedy"]:
            to.print(Text(f"  {problem['remedy']}"))
