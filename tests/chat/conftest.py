"""A linker over the embedded knowledge base, whose index is kept for the whole run."""

from __future__ import annotations

import pytest

from bmsql.backends import cache_directory, open_backend
from bmsql.linking import Linker, ValueIndex
from bmsql.semantic import load_semantic_model


@pytest.fixture(scope="session")
def linker() -> Linker:
    model = load_semantic_model()
    with open_backend() as backend:
        return Linker(model, ValueIndex.load_or_build(backend, model, cache_directory()))
