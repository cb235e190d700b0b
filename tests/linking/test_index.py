from __future__ import annotations

from pathlib import Path

import pytest

from bmsql.errors import ConfigurationError, KnowledgeBaseError
from bmsql.linking import Linker, ValueIndex
from bmsql.linking import _source as source_module
from bmsql.semantic import load_semantic_model, parse_semantic_model
from tests.linking.conftest import TableSource
from tests.linking.test_other_model import GARDEN, garden_source


def test_an_index_is_the_same_after_loading(facts_index: ValueIndex, tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    facts_index.save(path)
    loaded = ValueIndex.load(path)
    model = load_semantic_model()
    questions = ["ace hits in AD", "Humira or rasagilline for RA?", "mQTLs in whole blood, Celltrion, FAKE1 gene"]
    one, other = Linker(model, facts_index), Linker(model, loaded)
    assert [one.link(question) for question in questions] == [other.link(question) for question in questions]
    assert (loaded.fingerprint, loaded.model_hash) == (facts_index.fingerprint, facts_index.model_hash)
    assert list(tmp_path.iterdir()) == [path]


def test_the_second_time_nothing_is_read(tmp_path: Path) -> None:
    model, source = parse_semantic_model(GARDEN), garden_source()
    ValueIndex.load_or_build(source, model, tmp_path / "cache")
    reads = source.reads
    assert reads > 0
    index = ValueIndex.load_or_build(source, model, tmp_path / "cache")
    assert source.reads == reads
    assert Linker(model, index).link("foxgloves")[0].value == "Foxglove"


def test_other_data_or_another_model_make_another_index(tmp_path: Path) -> None:
    model = parse_semantic_model(GARDEN)
    changed = parse_semantic_model(GARDEN.replace("shady", "gloomy"))
    paths = {
        ValueIndex.path_in(tmp_path, "one", model),
        ValueIndex.path_in(tmp_path, "two", model),
        ValueIndex.path_in(tmp_path, "one", changed),
    }
    assert len(paths) == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": 0}',
        '{"format": 1, "names": {}}',
        '{"format": 1, "fingerprint": "", "model": "", "concepts": [], "names": [], "symbols": []}',
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_a_damaged_file_is_refused_and_built_anew(tmp_path: Path, text: str) -> None:
    model, source = parse_semantic_model(GARDEN), garden_source()
    path = ValueIndex.path_in(tmp_path, source.fingerprint(), model)
    path.write_text(text)
    with pytest.raises(KnowledgeBaseError):
        ValueIndex.load(path)
    index = ValueIndex.load_or_build(source, model, tmp_path)
    assert Linker(model, index).link("foxglove")
    assert ValueIndex.load(path).fingerprint == source.fingerprint()


def test_missing_tables_and_columns_are_left_out() -> None:
    model = parse_semantic_model(GARDEN)
    index = ValueIndex.build(TableSource({"beds": [{"light": "full sun"}]}), model)
    linker = Linker(model, index)
    assert [mention.entity for mention in linker.link("foxglove in full sun")] == ["light"]


def test_a_cut_off_column_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "MAX_VALUES", 2)
    index = ValueIndex.build(garden_source(), parse_semantic_model(GARDEN))
    assert "plants.common" in index.truncated


def test_the_user_adds_names(tmp_path: Path) -> None:
    model = parse_semantic_model(GARDEN)
    names = tmp_path / "names.tsv"
    names.write_text("for\tname\talias\nplant\tFoxglove\tdeadmen's bells\npest\tSlugs\tgastropods\n")
    index = ValueIndex.load_or_build(garden_source(), model, tmp_path / "cache", names=names)
    found = Linker(model, index).link("deadmen's bells and gastropods")
    assert [(mention.entity, mention.value, mention.method) for mention in found] == [
        ("plant", "Foxglove", "alias"),
        ("pest", "Slugs", "alias"),
    ]
    before = ValueIndex.path_in(tmp_path, "one", model, names=names)
    names.write_text("for\tname\talias\nplant\tFoxglove\tbells\n")
    assert ValueIndex.path_in(tmp_path, "one", model, names=names) != before


@pytest.mark.parametrize(
    ("text", "message"),
    [("name\talias\n", "no column 'for'"), ("for\tname\talias\nplant\tFoxglove\t\n", "names.tsv:2: a cell is empty")],
)
def test_a_bad_file_of_names_is_refused(tmp_path: Path, text: str, message: str) -> None:
    names = tmp_path / "names.tsv"
    names.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        ValueIndex.build(garden_source(), parse_semantic_model(GARDEN), names=names)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ValueIndex.build(garden_source(), parse_semantic_model(GARDEN), names=tmp_path / "absent.tsv")
