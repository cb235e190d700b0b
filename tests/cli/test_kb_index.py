"""`bmsql kb index`, and names of the user's own on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bmsql.backends import DryRun, DuckDBBackend
from bmsql.linking import Linker, ValueIndex
from bmsql.semantic import parse_semantic_model
from bmsql.types import ValidatedQuery
from tests.cli.test_cli import Run, cli
from tests.linking.conftest import write_tables
from tests.linking.test_other_model import GARDEN, garden_tables

__all__ = ["cli"]


@pytest.fixture
def garden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Options for a knowledge base of plants, with a cache of its own."""
    monkeypatch.setenv("BMSQL_CACHE_DIR", str(tmp_path / "cache"))
    write_tables(tmp_path / "garden.duckdb", garden_tables())
    (tmp_path / "garden.yaml").write_text(GARDEN)
    return ("--backend", f"duckdb://{tmp_path / 'garden.duckdb'}", "--semantic-model", str(tmp_path / "garden.yaml"))


@pytest.fixture
def billed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend that says each query reads 3 GiB, at 4 dollars a TiB."""
    bind = DuckDBBackend.dry_run

    def dry_run(self: DuckDBBackend, query: ValidatedQuery) -> DryRun:
        return bind(self, query).model_copy(update={"bytes_processed": 3 * 1024**3, "cost": 3 / 1024 * 4})

    monkeypatch.setattr(DuckDBBackend, "dry_run", dry_run)


def test_it_is_built_once_and_can_be_used_alone(cli: Run, garden: tuple[str, ...]) -> None:
    code, out, _ = cli("kb", "index", *garden, "--json")
    first = json.loads(out)
    assert code == 0
    assert [table["name"] for table in first["read"]["tables"]] == ["plants", "beds"]
    assert first["read"]["bytes"] is None
    linker = Linker(parse_semantic_model(GARDEN), ValueIndex.load(first["file"]))
    assert [mention.value for mention in linker.link("foxgloves")] == ["Foxglove"]
    second = json.loads(cli("kb", "index", *garden, "--json")[1])
    assert (second["file"], second["read"]["tables"]) == (first["file"], [])
    assert second["read"]["unchanged"] == ["plants", "beds"]


@pytest.mark.usefixtures("billed")
def test_the_cost_is_shown_and_agreed_to_before_it_is_spent(cli: Run, garden: tuple[str, ...], tmp_path: Path) -> None:
    code, out, err = cli("kb", "index", *garden)
    assert code == 2
    assert "Reads 15 GiB in all, about $0.06." in out
    assert "--yes" in err
    code, _, err = cli("kb", "index", *garden, "--max-bytes", "1000")
    assert code != 0
    assert "reads 15 GiB; 1000 bytes are allowed" in err
    assert not list(tmp_path.glob("cache/values-*"))
    code, out, _ = cli("kb", "index", *garden, "--yes")
    assert code == 0
    assert "Index: " in out
    assert len(list(tmp_path.glob("cache/values-*.arrow"))) == 1


@pytest.mark.usefixtures("billed")
def test_an_agent_does_not_spend_it_unasked(cli: Run, garden: tuple[str, ...]) -> None:
    code, _, err = cli("ask", "Which plants have slugs?", *garden)
    assert code != 0
    assert "reads 15 GiB; 100 MiB are allowed" in err
    assert f"`bmsql kb index --backend {garden[1]}" in err
    assert cli("kb", "index", *garden, "--yes")[0] == 0
    assert "allowed" not in cli("ask", "Which plants have slugs?", *garden)[2]


def test_names_of_the_users_own(cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("for\tname\talias\ngene\tBIN1\tthe bridge gene\n")
    code, out, _ = cli("ask", "Which SNPs near the bridge gene are significant in AD?", "--names", str(names))
    assert code == 0
    assert "'BIN1' IN UNNEST(SPLIT(nearestGene, ';'))" in out
    names.write_text("for\tname\talias\ngenie\tBIN1\tthe bridge gene\n")
    monkeypatch.setenv("BMSQL_NAMES", str(names))
    code, _, err = cli("ask", "SNPs near BIN1")
    assert code == 2
    assert "names.tsv:2: there is no entity 'genie'" in err
    assert "write one of:" in err
