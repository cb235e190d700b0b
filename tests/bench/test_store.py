"""Files that grow by whole lines and are read by id."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmsql.bench import Failure, Journal, Record, Store
from bmsql.errors import BenchmarkFileError


def record(name: str, text: str = "") -> Record:
    return Record(question_id=name, system="s", text=text)


def written(path: Path, *records: Record) -> Path:
    with Journal(path) as journal:
        for one in records:
            journal.append(one)
    return path


def texts(path: Path) -> dict[str, str]:
    with Store(path, Record, "question_id") as store:
        return {one.question_id: one.text for one in store}


def test_a_later_line_counts_in_the_place_of_the_first(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", record("b", "old"), record("a", "x"), record("b", "new"))
    assert list(texts(path).items()) == [("b", "new"), ("a", "x")]
    with Store(path, Record, "question_id") as store:
        assert (len(store), "a" in store, "c" in store, store.get("c")) == (2, True, False, None)
        with pytest.raises(KeyError):
            store["c"]


@settings(deadline=None, max_examples=30)  # each waits for the disk
@given(
    st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5, unique=True),
    st.text(max_size=40),
    st.integers(0, 400),
)
def test_whatever_is_torn_off_whole_records_stay(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], text: str, cut: int
) -> None:
    path = written(tmp_path_factory.mktemp("torn") / "r.jsonl", *(record(name, text) for name in names))
    content = path.read_bytes()
    kept = content[: max(0, len(content) - cut)]
    path.write_bytes(kept)
    whole = names[: kept.count(b"\n")]
    assert texts(path) == dict.fromkeys(whole, text)
    # Going on removes what was torn, and loses nothing else.
    written(path, record("after"))
    assert list(texts(path)) == [*whole, *(() if "after" in whole else ("after",))]


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"question_id":"a","system":"s"}\nnonsense\n', encoding="utf-8")
    with pytest.raises(BenchmarkFileError, match=r"r\.jsonl:2: this is no object with 'question_id'"):
        Store(path, Record, "question_id")
    path.write_text('{"question_id":"a","system":"s","cost":"free"}\n', encoding="utf-8")
    with (
        Store(path, Record, "question_id") as store,
        pytest.raises(BenchmarkFileError, match=r"r\.jsonl:1: cost: input should be a valid number"),
    ):
        store["a"]


def test_places_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFileError, match="cannot be written"):
        Journal(tmp_path)
    with pytest.raises(BenchmarkFileError, match="cannot be read"):
        Store(tmp_path / "absent.jsonl", Record, "question_id")


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    given = record('a"\\é', "ü\n\x00").model_copy(update={"error": Failure(type="E", message="m")})
    path = written(tmp_path / "r.jsonl", given)
    with Store(path, Record, "question_id") as store:
        assert store[given.question_id] == given
