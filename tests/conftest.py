"""What every test relies on: nobody's own settings, no keys, no network."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

# Before anything is imported: settings of the person who runs the tests must not decide their outcome,
# and with keys gone no test can reach a paid model. BMSQL_TEST_... is for the tests themselves.
_PREFIXES = (
    "BMSQL_",
    "OPENAI_",
    "GOOGLE_",
    "GEMINI_",
    "ANTHROPIC_",
    "AZURE_",
    "LANGCHAIN_",
    "LANGSMITH_",
    "LANGGRAPH_",
)
for _name in list(os.environ):
    if _name.startswith(_PREFIXES) and not _name.startswith("BMSQL_TEST_"):
        del os.environ[_name]
os.environ["LANGSMITH_TRACING"] = "false"
# State that a checkpointer could not store must fail here, not in a user's process.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

# One cache for a whole run and its workers, which inherit it: the knowledge base is built once, and the
# user's own cache is left alone. Name a folder in BMSQL_TEST_CACHE to keep it between runs.
_made = "BMSQL_TEST_CACHE" not in os.environ
if _made:
    os.environ["BMSQL_TEST_CACHE"] = tempfile.mkdtemp(prefix="bmsql-test-cache-")
os.environ["BMSQL_CACHE_DIR"] = os.environ["BMSQL_TEST_CACHE"]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the cache that this run made."""
    if _made:
        shutil.rmtree(os.environ["BMSQL_TEST_CACHE"], ignore_errors=True)
