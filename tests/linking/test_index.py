from __future__ import annotations

from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from bmsql.errors import BudgetExceededError, ConfigurationError, KnowledgeBaseError
from bmsql.linking import Linker, ValueIndex
from bmsql.linking import _fetch as fetch_module
from bmsql.linking import _reads as reads_module
from bmsql.semantic import load_semantic_model, parse_semantic_model
from tests.linking.conftest import MakeSource, TableSource
from tests.linking.test_other_model import GARDEN, garden_tables


@pytest.fixture
def garden_source(make_source: MakeSource) -> TableSource:
    return make_source(garden_tables(), "garden")


@pytest.mark.all
def test_an_index_is_the_same_after_loading(facts_index: ValueIndex, tmp_path: Path) -> None:
    path = tmp_path / "index.arrow"
    facts_index.save(path)
    loaded = ValueIndex.load(path)
    model = load_semantic_model()
    questions = ["ace hits in AD", "Humira or rasagilline for RA?", "mQTLs in whole blood, Celltrion, FAKE1 gene"]
    one, other = Linker(model, facts_index), Linker(model, loaded)
    assert [one.link(question) for question in questions] == [other.link(question) for question in questions]
    assert (loaded.fingerprint, loaded.model_hash) == (facts_index.fingerprint, facts_index.model_hash)
    assert loaded.tables == facts_index.tables
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_an_arrow_file(facts_index: ValueIndex, tmp_path: Path) -> None:
    path = tmp_path / "index.arrow"
    facts_index.save(path)
    with pa.memory_map(str(path)) as source:
        batch = pa.ipc.open_file(source).read_all()
    assert batch.num_rows == 1
    keys = batch["symbols.keys*"][0].as_py()
    assert keys == sorted(keys)
    assert {"LRRK2", "PARK8"} <= set(keys)
    # Read here without pyarrow, and there with it.
    assert [str(text, "utf-8") for text in facts_index.file.texts("symbols.keys*")] == keys
    assert list(facts_index.file.ints("symbols.ends")) == batch["symbols.ends"][0].as_py()


def test_the_second_time_nothing_is_read(garden_source: TableSource, tmp_path: Path) -> None:
    model = parse_semantic_model(GARDEN)
    ValueIndex.load_or_build(garden_source, model, tmp_path / "cache")
    reads = len(garden_source.reads)
    assert reads > 0
    index = ValueIndex.load_or_build(garden_source, model, tmp_path / "cache")
    assert len(garden_source.reads) == reads
    assert Linker(model, index).link("foxgloves")[0].value == "Foxglove"


def test_lists_are_taken_apart_in_the_database(garden_source: TableSource) -> None:
    ValueIndex.build(garden_source, parse_semantic_model(GARDEN))
    (sql,) = [sql for sql in garden_source.reads if "`crosses`" in sql]
    assert "UNNEST(SPLIT(list, '|'))" in sql
    assert all("DISTINCT" in sql and "LIMIT" in sql for sql in garden_source.reads)


def test_of_a_changed_knowledge_base_only_the_changed_table_is_read(make_source: MakeSource, tmp_path: Path) -> None:
    model = parse_semantic_model(GARDEN)
    tables = dict(garden_tables())
    ValueIndex.load_or_build(make_source(tables, "changing"), model, tmp_path)
    tables["beds"] = [*tables["beds"], {"light": "Deep Shade", "grower": None}]
    source = make_source(tables, "changing")
    assert ValueIndex.cost(source, model, tmp_path).unchanged == ("plants",)
    index = ValueIndex.load_or_build(source, model, tmp_path)
    assert source.reads
    assert all("beds" in sql and "plants" not in sql for sql in source.reads)
    found = Linker(model, index).link("foxglove in deep shade")
    assert [mention.value for mention in found] == ["Foxglove", "Deep Shade"]
    assert len(list(tmp_path.iterdir())) == 1


def test_the_cost_is_known_before_it_is_spent(garden_source: TableSource, tmp_path: Path) -> None:
    model = parse_semantic_model(GARDEN)
    assert ValueIndex.cost(garden_source, model).bytes is None
    garden_source.bytes_per_query = 3 * 1024**3
    needed = ValueIndex.cost(garden_source, model, tmp_path)
    assert {table.table: table.bytes for table in needed.tables} == {
        "plants": 3 * 3 * 1024**3,
        "beds": 2 * 3 * 1024**3,
    }
    with pytest.raises(BudgetExceededError, match=r"reads 15 GiB; 1 GiB are allowed") as raised:
        ValueIndex.load_or_build(garden_source, model, tmp_path, max_bytes=1024**3)
    assert f"bmsql kb index --backend {garden_source.name}" in raised.value.remedy
    assert garden_source.reads == []
    ValueIndex.load_or_build(garden_source, model, tmp_path, max_bytes=16 * 1024**3)
    assert ValueIndex.cost(garden_source, model, tmp_path).bytes is None


def test_another_backend_or_model_makes_another_index(tmp_path: Path) -> None:
    model = parse_semantic_model(GARDEN)
    changed = parse_semantic_model(GARDEN.replace("shady", "gloomy"))
    paths = {
        ValueIndex.path_in(tmp_path, "one", model),
        ValueIndex.path_in(tmp_path, "two", model),
        ValueIndex.path_in(tmp_path, "one", changed),
    }
    assert len(paths) == 3


@pytest.mark.parametrize("size", [0, 5, 100, 0.5, 0.9])
@pytest.mark.parametrize("at_end", [False, True])
def test_a_damaged_file_is_refused_and_built_anew(
    garden_source: TableSource, tmp_path: Path, size: float, at_end: bool
) -> None:
    model = parse_semantic_model(GARDEN)
    ValueIndex.load_or_build(garden_source, model, tmp_path)
    path = ValueIndex.path_in(tmp_path, garden_source.name, model)
    whole = path.read_bytes()
    kept = int(size if size > 1 or not size else size * len(whole))
    path.write_bytes(whole[len(whole) - kept :] if at_end else whole[:kept])
    with pytest.raises(KnowledgeBaseError, match="cannot be read"):
        ValueIndex.load(path)
    index = ValueIndex.load_or_build(garden_source, model, tmp_path)
    assert Linker(model, index).link("foxglove")
    assert ValueIndex.load(path).fingerprint == garden_source.fingerprint()


def test_a_scrambled_footer_is_refused_or_harmless(garden_source: TableSource, tmp_path: Path) -> None:
    index = ValueIndex.build(garden_source, parse_semantic_model(GARDEN))
    path = tmp_path / "index.arrow"
    outcomes = set()
    whole = bytes(index.file.data)
    footer = len(whole) - 10 - int.from_bytes(whole[-10:-6], "little")
    places = [*range(footer, footer + 160, 4), *range(footer + 160, len(whole) - 4, 128)]
    for place, scrambled in product(places, (b"\xff\xff\xff\xff", b"\0\0\0\0")):
        path.write_bytes(whole[:place] + scrambled + whole[place + 4 :])
        outcomes.add(_fingerprint_or_remedy(path))
    assert outcomes == {index.fingerprint, "Build it anew."}


def _fingerprint_or_remedy(path: Path) -> str:
    try:
        return ValueIndex.load(path).fingerprint
    except KnowledgeBaseError as error:
        return error.remedy


def test_an_index_of_another_format_is_refused(
    garden_source: TableSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index.arrow"
    ValueIndex.build(garden_source, parse_semantic_model(GARDEN)).save(path)
    monkeypatch.setattr("bmsql.linking._index.FORMAT", 99)
    with pytest.raises(KnowledgeBaseError, match="not 99"):
        ValueIndex.load(path)


def test_missing_tables_and_columns_are_left_out(make_source: MakeSource) -> None:
    model = parse_semantic_model(GARDEN)
    index = ValueIndex.build(make_source({"beds": [{"light": "full sun"}]}, "beds"), model)
    linker = Linker(model, index)
    assert [mention.entity for mention in linker.link("foxglove in full sun")] == ["light"]


def test_a_cut_off_column_is_reported(garden_source: TableSource, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reads_module, fetch_module):
        monkeypatch.setattr(module, "MAX_VALUES", 2)
    index = ValueIndex.build(garden_source, parse_semantic_model(GARDEN))
    assert "plants.common" in index.truncated


def test_the_user_adds_names(garden_source: TableSource, tmp_path: Path) -> None:
    model = parse_semantic_model(GARDEN)
    names = tmp_path / "names.tsv"
    names.write_text("for\tname\talias\nplant\tFoxglove\tdeadmen's bells\npest\tSlugs\tgastropods\n")
    index = ValueIndex.load_or_build(garden_source, model, tmp_path / "cache", names=names)
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
def test_a_bad_file_of_names_is_refused(garden_source: TableSource, tmp_path: Path, text: str, message: str) -> None:
    names = tmp_path / "names.tsv"
    names.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        ValueIndex.build(garden_source, parse_semantic_model(GARDEN), names=names)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ValueIndex.build(garden_source, parse_semantic_model(GARDEN), names=tmp_path / "absent.tsv")
