"""What bmsql answers: real output, made when the pages are written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs_parts.markdown import block, plain_environment, table

if TYPE_CHECKING:
    from bmsql import Agent

QUESTION = "Which SNPs near BIN1 are significantly associated with Alzheimer's disease?"
_QUERY = "SELECT SNP, p FROM AlzheimerDisease_CombinedGeneData_UUID WHERE chr_38 = 19 AND p <= 5e-8"
_CHECKED = "Which SNPs on chromosome 19 are significant for Alzheimer's disease?"
_PLANNED = "Which drugs target a gene that SMR links to Alzheimer's disease?"
_OWN = Path(__file__).resolve().parents[2] / "examples" / "own_database"
# Times differ from run to run.
_TIMES = re.compile(r"\b\d+(?:\.\d+)? (?=m?s\b)")


def _run(*arguments: str) -> str:
    """What the command prints, with times left open. Raises CalledProcessError when it fails."""
    with plain_environment():
        done = subprocess.run(
            [sys.executable, "-m", "bmsql", *arguments], capture_output=True, text=True, encoding="utf-8", check=True
        )
    return _TIMES.sub("... ", "\n".join(line.rstrip() for line in done.stdout.splitlines())).strip()


def session_ask() -> str:
    """The first question, asked with make."""
    shown = shlex.quote(QUESTION) if '"' in QUESTION else f'"{QUESTION}"'
    return block("console", f"$ make ask Q={shown}\n{_run('ask', '--', QUESTION)}")


def session_check() -> str:
    """A query that is checked, and what the conventions make of it."""
    command = f'$ bmsql check "{_QUERY}" \\\n    --question "{_CHECKED}"'
    return block("console", f"{command}\n{_run('check', _QUERY, '--question', _CHECKED)}")


def session_plan() -> str:
    """How a question over two families of tables is understood."""
    return block("console", f'$ bmsql plan "{_PLANNED}"\n{_run("plan", _PLANNED)}')


@cache
def _agent() -> Agent:
    from bmsql import Agent

    with plain_environment():
        return Agent()


@cache
def _questions() -> dict[str, list[dict[str, Any]]]:
    import yaml

    text = Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8")
    groups: dict[str, list[dict[str, Any]]] = yaml.safe_load(text)
    return groups


def offline_answers() -> str:
    """Questions by kind, with their answers."""
    parts = []
    for group in _questions()["answered"]:
        rows = []
        for question in group["ask"]:
            answer = _agent().ask(question)
            if answer.abstained:
                raise ValueError(f"{question!r} is no longer answered: {answer.text}")
            rows.append((question, answer.text))
        parts += [f"**{group['kind']}**", table(("Question", "Answer"), rows)]
    return "\n\n".join(parts)


def offline_refusals() -> str:
    """Questions that are not answered, with what is said instead."""
    rows = []
    for group in _questions()["not_answered"]:
        for question in group["ask"]:
            answer = _agent().ask(question)
            if not answer.abstained or (answer.clarification is not None) != (group["kind"] == "asks back"):
                raise ValueError(f"{question!r} is now answered otherwise: {answer.text}")
            choices = " / ".join(answer.clarification.alternatives) if answer.clarification else ""
            rows.append((question, answer.text + (f" ({choices})" if choices else "")))
    return table(("Question", "Reply"), rows)


def own_model() -> str:
    """The semantic model of the example with a database of its own."""
    return block("yaml", (_OWN / "screen.yaml").read_text(encoding="utf-8"))


def own_rules() -> str:
    """Its convention."""
    return block("yaml", (_OWN / "rules.yaml").read_text(encoding="utf-8"))


def own_session() -> str:
    """What its script prints."""
    with plain_environment():
        done = subprocess.run(
            [sys.executable, str(_OWN / "ask.py")], capture_output=True, text=True, encoding="utf-8", check=True
        )
    return block("text", done.stdout)
